"use strict";
// A filter holds as soon as it is chosen; the button is for browsers without scripts.
document.addEventListener("change", (event) => event.target.closest("form.filters")?.requestSubmit());

// While something runs, the content is asked for again and put in the place of the old; nothing while somebody types.
(() => {
  const soon = 1000 * document.body.dataset.live;
  if (!soon) return;
  const policy = self.trustedTypes?.createPolicy("page", { createHTML: (text) => text });
  const parse = (text) => new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, "text/html");
  const busy = () => document.hidden || document.activeElement?.closest("main form, main details, main a");
  const name = (details) => {
    const near = details.closest("section, article");
    return [near?.getAttribute("aria-label"), near?.querySelector("h2, h3")?.textContent, details.firstChild.textContent].join();
  };
  const look = async () => {
    if (busy()) return void setTimeout(look, soon);
    const answer = await fetch(location.href, { credentials: "same-origin" }).catch(() => null);
    if (answer === null || !answer.ok) return void setTimeout(look, 10000);
    const found = parse(await answer.text());
    const fresh = found.getElementById("main");
    const old = document.getElementById("main");
    if (fresh && !busy() && fresh.textContent !== old.textContent) {
      const unfolded = new Set([...old.querySelectorAll("details[open]")].map(name));
      for (const each of fresh.querySelectorAll("details")) each.open = unfolded.has(name(each));
      old.replaceWith(document.adoptNode(fresh));
    }
    if (found.body.dataset.live) setTimeout(look, 1000 * found.body.dataset.live);
  };
  setTimeout(look, Math.min(soon, 2000));
})();
