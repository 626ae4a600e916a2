(function (sheet) {
  var root = sheet.closest('.smsotp-form');
  if (!root || root.dataset.smsotpPage) return;
  root.dataset.smsotpPage = 'ready';

  // With the focus on a widget's button, JupyterLab's command keys would act on the notebook: "d d" deletes the cell.
  root.addEventListener('focusin', function (event) {
    event.target.setAttribute('data-lm-suppress-shortcuts', 'true');
    if (event.target.closest('.smsotp-code')) {
      event.target.setAttribute('inputmode', 'numeric');
      event.target.setAttribute('autocomplete', 'one-time-code');
    }
  });

  // A passcode passes through a widget once and is dots there ever after, so that no saved notebook holds it. The page
  // remembers it while its message is drawn as open.
  var codes = {};
  function focusable() {
    // The top of a form takes the focus after a step, so that reading goes on there and no key reaches the notebook.
    root.querySelectorAll('.smsotp-top > .widget-html-content').forEach(function (top) { top.tabIndex = -1; });
  }
  focusable();
  new MutationObserver(function (records) {
    focusable();
    records.forEach(function (record) {
      record.addedNodes.forEach(function (added) {
        if (!added.querySelectorAll) return;
        added.querySelectorAll('b[data-open]').forEach(function (code) {
          if (/^[0-9]+$/.test(code.textContent)) codes[code.dataset.open] = code.textContent;
          else if (codes[code.dataset.open]) code.textContent = codes[code.dataset.open];
        });
      });
    });
  }).observe(root, { childList: true, subtree: true });
})(this);
