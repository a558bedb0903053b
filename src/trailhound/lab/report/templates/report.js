// Click a heading to sort its table; again to turn the order round.
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const heading = button.parentElement;
    const table = heading.closest("table");
    const column = heading.cellIndex;
    const descending = heading.getAttribute("aria-sort") !== "descending";
    const value = (row) => {
      const raw = row.cells[column].dataset.value;
      const number = Number(raw);
      return raw !== "" && Number.isFinite(number) ? number : raw;
    };
    const compare = (a, b) => {
      const [x, y] = [value(a), value(b)];
      return typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
    };
    const rows = [...table.tBodies[0].rows].sort((a, b) => (descending ? compare(b, a) : compare(a, b)));
    table.tBodies[0].append(...rows);
    for (const other of heading.parentElement.cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
  });
}
