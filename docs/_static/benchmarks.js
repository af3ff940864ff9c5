// The filters above the table of the benchmarks. Without this script all lines are shown.
const form = document.querySelector("form.filters");
const rows = [...document.querySelectorAll("table.benchmarks tbody tr")];

function filter() {
  const wanted = [...form.querySelectorAll("select")].filter((one) => one.value);
  const behind = form.querySelector("[data-behind]").checked;
  let shown = 0;
  for (const row of rows) {
    const fits = wanted.every((one) => row.dataset[one.dataset.column.toLowerCase()] === one.value);
    row.hidden = !fits || (behind && !row.classList.contains("behind"));
    shown += !row.hidden;
  }
  form.querySelector("output").textContent = `${shown} of ${rows.length} lines`;
}

form.addEventListener("input", filter);
form.addEventListener("submit", (event) => event.preventDefault());
filter();
