// Words that the glossary has: the first of each in a section leads to it, and says what it means.

function linkTerms() {
  const terms = new Map();
  for (const dt of document.querySelectorAll("#glossary dt")) {
    for (const name of dt.textContent.split(", ")) terms.set(name.toLowerCase(), dt);
  }
  const names = [...terms.keys()].sort((a, b) => b.length - a.length);
  // A part of a file's or a function's name is no such word.
  const word = new RegExp(`(?<![\\w.:/])(${names.join("|")})(?:e?s)?(?![\\w:/(]|\\.\\w)`, "i");
  for (const section of document.querySelectorAll("main > section:not(#glossary, #source)")) {
    const seen = new Set();
    const texts = section.querySelectorAll("p.quiet, p.quiet span, h3, dt, .key-list li, #findings .what");
    for (const text of [...texts].flatMap(place => [...place.childNodes].filter(node => node.nodeType === Node.TEXT_NODE))) link(text, seen);
  }
  function link(text, seen) {
    const found = word.exec(text.data);
    if (!found) return;
    const dt = terms.get(found[1].toLowerCase());
    // The names of losses are usual words elsewhere.
    const meant = !dt.nextElementSibling.textContent.startsWith("A loss") || text.parentElement.matches(".key-list li");
    const rest = text.splitText(found.index).splitText(found[0].length);
    if (meant && !seen.has(dt)) {
      seen.add(dt);
      rest.previousSibling.replaceWith(html("a", { class: "term", href: `#${dt.id}`, title: dt.nextElementSibling.textContent }, found[0]));
    }
    link(rest, seen);
  }
}
