// One thing after another: what is read from storage must not change before it is written back.
let last = Promise.resolve();

export function serially(task) {
  const result = last.then(task);
  last = result.catch(() => {});
  return result;
}
