// Light and dark: as the reader chose before, as the address says, or as the system has it.

const data = JSON.parse(document.getElementById("data").textContent);
const $ = id => document.getElementById(id);
// What time can be: one name, one colour, one meaning everywhere.
const STATES = new Map(JSON.parse($("states").textContent).map(state => [state.name, state]));
const colorOf = name => name.replaceAll(" ", "-");
// The words of the address: a section, `dark` or `light`, `lanes=from-to` in nanoseconds.
const address = () => decodeURIComponent(location.hash.slice(1)).split("&");

function chooseTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const hash = address().find(word => word === "dark" || word === "light");
  let kept = null;
  try { kept = localStorage.getItem("contech-theme"); } catch { /* not kept, then */ }
  const set = theme => {
    document.documentElement.dataset.theme = theme;
    $("theme").textContent = theme === "dark" ? "Light" : "Dark";
    $("theme").setAttribute("aria-label", `Switch to the ${theme === "dark" ? "light" : "dark"} theme`);
  };
  set(hash ?? kept ?? (dark.matches ? "dark" : "light"));
  $("theme").addEventListener("click", () => {
    const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("contech-theme", theme); } catch { /* not kept, then */ }
    set(theme);
  });
}
