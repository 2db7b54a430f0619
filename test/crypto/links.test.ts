import t from 'tap'
import {
  cryptoReady,
  engine,
  formatAccountLink,
  formatTerminalLink,
  formatWebTerminalLink,
  readPairingLink,
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
