(function (sheet) {
  var root = sheet.closest('.smsotp-form');
  if (!root || root.dataset.smsotpPage) return;
  root.dataset.smsotpPage = 'ready';

  // With the focus on a widget's button, JupyterLab's command keys would act on the notebook: "d d" deletes the cell.
  root.addEventListener('focusin', function (event) {
    event.target.setAttribute('data-lm-suppress-shortcuts', 'true');
  });

  // A press tells which label was read: the button may have another one by the time the kernel hears of it. The click
  // itself goes no further, since the kernel may hear of a click before it hears of a field's value.
  root.addEventListener('click', function (event) {
    var button = event.target.closest('.smsotp-pinned > button');
    var label = button && /smsotp-label-([0-9]+)/.exec(button.className);
    if (!label) return;
    var told = button.parentElement.querySelector('.smsotp-told input');
    told.value = label[1] + ' ' + performance.now();
    told.dispatchEvent(new window.Event('change', { bubbles: true }));
    event.stopPropagation();
  }, true);

  // A passcode passes through a widget once and is dots there ever after, so that no saved notebook holds it. The page
  // remembers it while its message is drawn as open.
  var codes = {};
  function uncounted() {
    // A button for files counts them, and a list that was read is no longer in it: "(0)" would say that there is none.
    root.querySelectorAll('button.widget-upload').forEach(function (button) {
      button.childNodes.forEach(function (part) {
        if (part.nodeType === 3 && / \(\d+\)$/.test(part.data)) part.data = part.data.replace(/ \(\d+\)$/, '');
      });
    });
  }
  function focusable() {
    uncounted();
    root.querySelectorAll('.smsotp-field .jupyter-widgets :is(input, select, textarea)').forEach(function (field) {
      var invalid = String(!!field.closest('.smsotp-invalid'));
      if (field.getAttribute('aria-invalid') !== invalid) field.setAttribute('aria-invalid', invalid);
    });
    // Before it has the focus: a phone offers the code of a message then.
    root.querySelectorAll('.smsotp-code input').forEach(function (code) {
      code.setAttribute('inputmode', 'numeric');
      code.setAttribute('autocomplete', 'one-time-code');
    });
    // The top of a form takes the focus after a step, so that reading goes on there and no key reaches the notebook.
    root.querySelectorAll('.smsotp-top > .widget-html-content').forEach(function (top) { top.tabIndex = -1; });
  }
  // A file comes in pieces, each taken away again as soon as it is here: no saved notebook holds one. A form that is
  // shown twice gets every piece twice.
  var files = window.smsotpFiles = window.smsotpFiles || {};
  function receive(piece) {
    var file = files[piece.dataset.file] = files[piece.dataset.file] || { pieces: [] };
    var at = Number(piece.dataset.piece);
    if (file.pieces.length > at) return;
    file.pieces.push(Uint8Array.from(atob(piece.textContent), function (sign) { return sign.charCodeAt(0); }));
    if (file.pieces.length === Number(piece.dataset.pieces)) {
      hand(piece.dataset.name, new Blob(file.pieces));
      file.pieces.fill(null);
    }
    piece.closest('.smsotp-download').querySelector('button').click();
  }
  function hand(name, content) {
    var link = document.createElement('a');
    link.href = window.URL.createObjectURL(content); // here, URL alone is the document's address
    link.download = name;
    root.appendChild(link).click();
    link.remove();
    setTimeout(function () { window.URL.revokeObjectURL(link.href); }, 60000);
  }
  focusable();

  // What has the focus may go dead or away with a step. The focus would fall to the page, whose keys act on the notebook.
  var held = null;
  function elsewhere(event) {
    if (!root.isConnected) {
      document.removeEventListener('focusin', elsewhere);
      document.removeEventListener('pointerdown', elsewhere, true);
    }
    if (!root.contains(event.target)) held = null;
  }
  root.addEventListener('focusin', function (event) { held = event.target; });
  document.addEventListener('focusin', elsewhere);
  document.addEventListener('pointerdown', elsewhere, true);
  function keepFocus() {
    if (!held || (held.isConnected && !held.disabled && held.getClientRects().length)) return;
    if (document.activeElement && document.activeElement !== document.body && document.activeElement !== held) return;
    // The head itself, not what holds it: that takes the focus from the kernel, and comes into view only if it is new to it.
    var head = root.querySelector('.smsotp-head');
    var top = head && head.getClientRects().length ? head : root;
    top.tabIndex = -1;
    top.focus({ preventScroll: true });
  }
  new MutationObserver(function () { requestAnimationFrame(keepFocus); }).observe(root, {
    attributes: true, attributeFilter: ['disabled', 'style', 'class', 'hidden'], childList: true, subtree: true
  });

  new MutationObserver(function (records) {
    focusable();
    records.forEach(function (record) {
      record.addedNodes.forEach(function (added) {
        if (!added.querySelectorAll) return;
        if (added.matches('[data-piece]')) receive(added);
        added.querySelectorAll('b[data-open]').forEach(function (code) {
          if (/^[0-9]+$/.test(code.textContent)) codes[code.dataset.open] = code.textContent;
          else if (codes[code.dataset.open]) code.textContent = codes[code.dataset.open];
        });
      });
    });
  }).observe(root, { childList: true, subtree: true, attributes: true, attributeFilter: ['class'] });
})(this);
