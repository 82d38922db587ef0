// Elements in one call: `html("td", { class: "n" }, "12")`, `svg("path", { d })`.

function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter(child => child !== null && child !== undefined));
  return node;
}

function html(name, attributes, ...children) {
  return build(document.createElement(name), attributes, children);
}

function svg(name, attributes, ...children) {
  return build(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function swatch(color) {
  return html("i", color === "dash" ? { class: "dash" } : { style: `background: var(--${color})` });
}

function empty(target, message) {
  target.replaceChildren(html("p", { class: "empty" }, message));
}

// The menu: a link to each section, named as its heading is.
function fillMenu() {
  const sections = [...document.querySelectorAll("main > section[id]:not(#answer)")];
  $("menu").replaceChildren(...sections.map(section => html("a", { href: `#${section.id}` }, section.querySelector("h2").textContent)));
  // What a link leads to is not hidden below the menu, whose lines depend on the width of the window.
  new ResizeObserver(([{ target }]) => { document.documentElement.style.scrollPaddingTop = `${target.offsetHeight + 8}px`; }).observe($("menu").parentElement);
}
