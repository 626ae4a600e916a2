(function (sheet) {
  // With the focus on a widget's button, JupyterLab's command keys would act on the notebook: "d d" deletes the cell.
  var root = sheet.closest('.smsotp-form');
  if (!root || root.dataset.smsotpFocus) return;
  root.dataset.smsotpFocus = 'kept';
  root.addEventListener('focusin', function (event) {
    event.target.setAttribute('data-lm-suppress-shortcuts', 'true');
    if (event.target.closest('.smsotp-code')) {
      event.target.setAttribute('inputmode', 'numeric');
      event.target.setAttribute('autocomplete', 'one-time-code');
    }
  });
})(this);
