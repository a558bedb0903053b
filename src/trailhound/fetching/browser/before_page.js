// Run in every document before its own scripts: what a browser without a network must pretend.
(() => {
  Object.defineProperty(Navigator.prototype, "onLine", { get: () => true, configurable: true });
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (how) {
    return attach.call(this, { ...how, mode: "open" });
  };
  window.open = () => null;
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport", "SharedWorker"]) delete window[name];
})();
