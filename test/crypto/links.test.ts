import t from 'tap'
import {
  cryptoReady,
  engine,
  formatAccountLink,
  formatRequestLink,
  formatTerminalLink,
  formatWebTerminalLink,
  readPairingLink,
  readRequestLink,
  toBase64,
  toBase64Url
} from '../../lib/crypto/index.ts'

await cryptoReady()

const { publicKey } = engine.boxKeypair()
const key = toBase64Url(publicKey)

t.test('each link is parsed as what it asks for', async t => {
  const asked = {
    terminal: [
      formatTerminalLink(publicKey),
      formatWebTerminalLink('https://afield.example:8443/app/', publicKey),
      ` ${formatTerminalLink(publicKey)}\n`
    ],
    account: [formatAccountLink(publicKey)]
  }
  for (const [type, texts] of Object.entries(asked)) {
    for (const text of texts) t.same(readPairingLink(text), { type, publicKey }, text)
  }
  t.same(readPairingLink(`HAPPY://terminal/?${toBase64(publicKey)}`), { type: 'terminal', publicKey }, 'as some scanners hand it over')
})

t.test('the address of the app may end in a slash', async t => {
  t.equal(formatWebTerminalLink('http://127.0.0.1:3005/', publicKey), `http://127.0.0.1:3005/terminal/connect#key=${key}`)
})

t.test('anything else is not a link', async t => {
  const others = [
    '',
    key,
    `happy://terminal?${key}A`,
    `happy://terminal?${key.slice(1)}`,
    `happy://terminal?${key}&x=1`,
    `happy://account?${key}`,
    `happy:///terminal?${key}`,
    `unhappy://terminal?${key}`,
    `javascript://x/%0aalert(1)/terminal/connect#key=${key}`,
    `https://afield.example/terminal/connect?key=${key}`,
    `https://afield.example/#/terminal/connect#key=${key}`,
    `happy://terminal?${toBase64Url(new Uint8Array(32))}`
  ]
  for (const text of others) t.equal(readPairingLink(text), undefined, text)
})

const request = { id: 'a_b-1', keyPrint: new Uint8Array(16).fill(1), linkSecret: new Uint8Array(16).fill(2) }
const print = 'AQEBAQEBAQEBAQEBAQEBAQ'
const linkSecret = 'AgICAgICAgICAgICAgICAg'

t.test('a link with a check code names what is asked for, where, and by which key', async t => {
  for (const [kind, letter] of [
    ['terminal', 't'],
    ['device', 'd']
  ] as const) {
    const text = `https://afield.example/app/terminal/connect#v2=${letter}.a_b-1.${print}.${linkSecret}`
    t.equal(formatRequestLink('https://afield.example/app//', { kind, ...request }), text)
    const read = { kind, ...request, server: 'https://afield.example/app' }
    t.same(readRequestLink(` ${text}\n`), read)
    t.same(readRequestLink(text.replace(`#v2=${letter}`, `#V2=${letter.toUpperCase()}`)), read)
    t.equal(readPairingLink(text), undefined)
  }
})

t.test('any other text is not a link with a check code', async t => {
  const link = `https://afield.example/terminal/connect#v2=t.a.${print}.${linkSecret}`
  t.ok(readRequestLink(link))
  const others = [
    '',
    `${link}x`,
    link.slice(0, -1),
    link.replace('https', 'ftp'),
    link.replace('v2=t', 'v2=x'),
    link.replace('.a.', '..'),
    link.replace('.a.', `.${'a'.repeat(65)}.`),
    link.replace(print, `${print.slice(0, -1)}_`),
    link.replace(linkSecret, `${linkSecret.slice(0, -1)}_`),
    formatTerminalLink(publicKey),
    formatWebTerminalLink('https://afield.example', publicKey)
  ]
  for (const text of others) t.equal(readRequestLink(text), undefined, text)
})
