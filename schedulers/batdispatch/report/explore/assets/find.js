// Find a job or a user by its name.

import { element } from "./dom.js";

export function listenToFind(explorer, filters) {
  const { table } = explorer;
  element("find").addEventListener("submit", (event) => {
    event.preventDefault();
    const text = element("name").value.trim();
    if (!text) return;
    for (let job = 0; job < table.count; job++) {
      if (table.name(job) === text) return explorer.choose(job, true);
    }
    if (table.users.includes(text)) return filters.ofUser(text);
    element("said").textContent = `No job and no user is called ${text}.`;
  });
}
