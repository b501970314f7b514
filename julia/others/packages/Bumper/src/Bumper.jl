"Ebbtide under the name of Bumper.jl, so that packages that use Bumper.jl use Ebbtide."
module Bumper

using Ebbtide: Ebbtide

for name in names(Ebbtide; all = true)
    hidden = startswith(string(name), '#') || name in (:Ebbtide, :eval, :include, :__init__)
    hidden || !isdefined(Ebbtide, name) || @eval using Ebbtide: $name
end

export SlabBuffer, AllocBuffer, @alloc, @alloc_ptr, default_buffer, @no_escape, with_buffer

end
