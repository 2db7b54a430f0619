import t from 'tap'
import { findLink } from '../../../web/join/pasted-link.ts'

const secret = 'A'.repeat(21)
const ours = `https://home.example.org/terminal/connect#v2=t.0199c3ae.${secret}x.${secret}y`
const plain = ours.replace('https', 'http').replace('home.example.org', '192.0.2.7:3005')
const firstKind = `https://home.example.org/terminal/connect#key=${'k'.repeat(43)}`
const happy = `happy://terminal?${'k'.repeat(43)}`
const account = `happy:///account?${'k'.repeat(43)}`

t.test('a link is found whatever text or line breaks surround or split it', async t => {
  for (const link of [ours, plain, firstKind, happy, account]) {
    const middle = Math.floor(link.length / 2)
    const broken = `${link.slice(0, middle)}\n  ${link.slice(middle)}`
    const screen = `Link this computer to your account on https://home.example.org\n\n  Open this address:\n  ${broken}\n\n  Or scan this with your phone:\n`
    for (const text of [link, `  ${link}\n`, broken, `\u200B${link}\uFEFF`, screen])
      t.same(findLink(text), { type: 'link', href: link }, text)
  }
})

t.test('invalid links are distinguished: cut short, for an account, another address, no address', async t => {
  const table: [text: string, type: string][] = [
    [ours.slice(0, -1), 'cut'],
    ['https://home.example.org/terminal/connect#v2=t.', 'cut'],
    ['happy://terminal?abc', 'cut'],
    ['https://home.example.org/#setup=ABCD-EFGH', 'for-account'],
    ['http://127.0.0.1:3005/#invite=x', 'for-account'],
    ['', 'nothing'],
    ['afield login', 'nothing']
  ]
  for (const [text, type] of table) t.equal(findLink(text).type, type, text)
  t.same(findLink(' https://example.net/a#b '), { type: 'foreign', host: 'example.net' })
  t.same(findLink('https://home.example.org:8443'), { type: 'foreign', host: 'home.example.org:8443' })
})
