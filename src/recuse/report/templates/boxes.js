// Boxes for numbers: what is not a number above 0 is said at the box, with the number that the figures still stand for.

function sayMistyped(box, words) {
  byId(`${box.id}-mistyped`).textContent = words;
  box.setAttribute("aria-invalid", words ? "true" : "false");
}

// The place for the words is there from the start: what appears together with its words is not read out by all readers.
function prepareBox(box) {
  const place = document.createElement("p");
  Object.assign(place, { id: `${box.id}-mistyped`, className: "mistyped" });
  place.setAttribute("role", "alert");
  box.setAttribute("aria-describedby", place.id);
  (box.closest(".pair") || box).after(place);
}

// Fill a box with a number that holds; null leaves it empty.
function fillBox(box, value) {
  box.value = value === null ? "" : value;
  sayMistyped(box, "");
}

// What was typed: a number above 0, or null if the box is empty and may be; undefined, and words at the box, if it is neither.
function typedNumber(box, held, mayBeEmpty = false) {
  const value = Number(box.value), empty = box.value === "" && !box.validity.badInput;
  const typed = empty && mayBeEmpty ? null : value > 0 && Number.isFinite(value) ? value : undefined;
  sayMistyped(box, typed !== undefined ? "" : `Not a number above 0${held === null ? "." : `: the figures are still those for ${held}.`}`);
  return typed;
}
