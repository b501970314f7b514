// A program that a test stops in `stop` to print the variables of `main` by gdb.
#include "ebbtide.hpp"

typedef EBB_ARRAY(int) numbers;

__attribute__((noinline)) void stop() {
    __asm__ volatile("");
}

int main() {
    ebb_arena *handle = ebb_arena_new(nullptr);
    ebb_scope c_scope = ebb_open(handle);
    ebb_scope c_child = ebb_child(&c_scope);
    ebb_defer(&c_child, [](void *) {}, nullptr);
    ebb_bytes bytes = {};
    ebb_bytes_append(&c_child, &bytes, "foam", 4);
    numbers named = {};
    ebb_push(&c_child, &named, 7);
    ebb_push(&c_child, &named, 8);

    ebbtide::arena arena, idle, moved = std::move(idle);
    ebbtide::scope scope = arena.open();
    ebbtide::scope of_thread = ebbtide::scope::of_thread(), closed = std::move(of_thread);
    ebbtide::vector<int> vector(scope);
    vector.push_back(1);
    vector.push_back(2);
    ebbtide::string text(scope);
    text.append("the tide");
    ebbtide::span<int> span(vector.data(), 1);
    ebb_heap heap, ended, unused = {};
    ebb_heap_init(&heap, &c_child);
    void *small = ebb_heap_alloc(&heap, 20), *large = ebb_heap_alloc(&heap, 5000);
    ebb_heap_alloc(&heap, 1);
    ebb_heap_free(&heap, small, 20);
    ebb_heap_free(&heap, large, 5000);
    ebb_scope short_lived = ebb_thread_open();
    ebb_heap_init(&ended, &short_lived);
    ebb_close(&short_lived);
    ebbtide::pool_resource nodes(scope);
    void *node = nodes.allocate(300);
    (void)nodes.allocate(1);
    nodes.deallocate(node, 300);
    (void)unused;
    stop();
    ebb_close(&c_child);
    ebb_close(&c_scope);
    ebb_arena_free(handle);
}
