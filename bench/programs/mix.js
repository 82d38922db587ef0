// Objects, arrays, strings and closures, as scripts use them; the argument is the number of rounds.
var rounds = +scriptArgs[0], state = 1, sum = 0;
function random(below) {
  state = (state * 1103 + 12345) % 65536;
  return state % below;
}
function Node(key) { this.key = key; this.left = null; this.right = null; }
function insert(node, key) {
  if (!node) return new Node(key);
  if (key < node.key) node.left = insert(node.left, key);
  else if (key > node.key) node.right = insert(node.right, key);
  return node;
}
function depth(node) { return node ? 1 + Math.max(depth(node.left), depth(node.right)) : 0; }
for (var round = 0; round < rounds; round++) {
  var root = null, numbers = [];
  for (var i = 0; i < 300; i++) {
    root = insert(root, random(5000));
    numbers.push(random(1000));
  }
  numbers.sort(function (a, b) { return a - b; });
  sum += depth(root) + numbers[150];
  sum += numbers.map(function (x) { return 'n' + x; }).join(' ').length;
}
print(sum);
