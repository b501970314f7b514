// Strings, arrays, objects and closures, many of which become garbage.
var words = {}, numbers = [];
for (var i = 0; i < 6000; i++) {
    var word = "word " + (i * 7919 % 997);
    words[word] = (words[word] || 0) + 1;
    numbers.push({ square: i * i, text: word });
    if (i % 3 === 0) numbers.shift();
}
print(Object.keys(words).length + " words, " + numbers.length + " numbers");
print(numbers.map(function (n) { return n.square; }).reduce(function (a, b) { return a + b; }, 0));
print(JSON.stringify(numbers.slice(0, 3)));
try { null.field; } catch (error) { print(error.name); }
