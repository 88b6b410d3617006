(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const one = selector => document.querySelector(selector);
  document.documentElement.classList.add('js');
  const [search, suite, sort, count] = ['#search', '#suite', '#sort', '#count'].map(one);
  const cards = all('.card');
  const texts = new Map();
  const text = card => texts.get(card) ?? texts.set(card, card.textContent.toLowerCase()).get(card);
  const kind = () => one('[name=show]:checked').id.slice('show-'.length);

  // Shows the cards that fit the tile, the suite and all words of the search.
  const show = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = card => (kind() === 'all' || card.classList.contains(kind()))
      && (!suite.value || card.dataset.suite === suite.value)
      && words.every(word => text(card).includes(word));
    cards.forEach(card => { card.hidden = !fits(card); });
    all('section.group').forEach(group => { group.hidden = !group.querySelector('.card:not([hidden])'); });
    count.textContent = `${cards.filter(card => !card.hidden).length} of ${cards.length} shown`;
  };

  // Sorts within each group: the groups themselves are in the order of severity.
  const order = () => {
    const name = card => card.querySelector('.name').textContent;
    const by = {
      severity: (a, b) => a.dataset.place - b.dataset.place,
      name: (a, b) => name(a).localeCompare(name(b)),
      file: (a, b) => a.dataset.file - b.dataset.file,
    }[sort.value];
    all('section.group').forEach(group => group.append(...all('.card', group).sort(by)));
  };

  // A link to a card shows and opens it.
  const jump = () => {
    const card = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!card) return;
    card.hidden = false;
    card.parentElement.hidden = false;
    card.open = true;
    card.scrollIntoView();
  };

  search.addEventListener('input', show);
  suite.addEventListener('change', show);
  sort.addEventListener('change', order);
  all('[name=show]').forEach(tile => tile.addEventListener('change', show));
  one('#expand').addEventListener('click', event => {
    const open = event.target.dataset.open !== 'yes';
    all('.card:not([hidden]), .card:not([hidden]) details').forEach(details => { details.open = open; });
    event.target.dataset.open = open ? 'yes' : 'no';
    event.target.textContent = open ? 'Collapse all' : 'Expand all';
  });
  document.addEventListener('click', event => {
    const button = event.target.closest('button.copy');
    if (!button) return;
    const command = button.previousElementSibling;
    const select = () => getSelection().selectAllChildren(command);
    const done = () => { button.textContent = 'copied'; };
    navigator.clipboard ? navigator.clipboard.writeText(command.textContent).then(done, select) : select();
  });
  addEventListener('hashchange', jump);
  show();
  jump();
})();
