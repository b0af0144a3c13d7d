// A key that opens the guidelines, and closes them again and returns to the previous focus.
//
//   <details data-guidelines> <summary>Guidelines</summary> … </details>
//
//   const showGuidelines = bindGuidelines({ closed: true, back: () => question });

export function bindGuidelines({ closed = false, back }) {
  const guidelines = document.querySelector("[data-guidelines]");
  let from = null;
  if (closed || window.matchMedia("(max-width: 56rem)").matches) guidelines.open = false;
  return () => {
    const read = guidelines.open && guidelines.contains(document.activeElement);
    guidelines.open = !read;
    if (read) return void (from?.isConnected ? from : back()).focus({ preventScroll: true });
    from = document.activeElement === document.body ? null : document.activeElement;
    guidelines.querySelector("summary").focus();
  };
}
