// Which pages may be recorded at all.

/** "bank.example", "*.bank.example" and "https://bank.example/x" all become "bank.example". */
export function hostOf(text) {
  const plain = String(text).trim().toLowerCase().replace(/^\*\./, "");
  try {
    return nameOf(new URL(plain.includes("://") ? plain : `http://${plain}`));
  } catch {
    return "";
  }
}

/** The host without the dot that may end its name: "bank.example." is the same place. */
function nameOf(address) {
  return address.hostname.replace(/\.$/, "");
}

/** Lines of the popup's text field to host names, each once. */
export function hostsOf(text) {
  return [...new Set(String(text).split(/[\s,]+/).map(hostOf).filter(Boolean))];
}

/** Only pages of the web, and none of an excluded host or of what lies below it. */
export function mayRecord(url, excluded) {
  let address;
  try {
    address = new URL(url);
  } catch {
    return false;
  }
  if (address.protocol !== "http:" && address.protocol !== "https:") return false;
  if (address.username || address.password) return false;
  const host = nameOf(address);
  return !excluded.map(hostOf).some((each) => host === each || host.endsWith(`.${each}`));
}
