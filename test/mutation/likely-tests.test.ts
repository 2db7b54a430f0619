import t from 'tap'
import { likelyTests } from './likely-tests.ts'

const tree: Record<string, string> = {
  'web/bundle.mjs': "entryPoints: ['web/app/main.tsx']",
  'web/app/main.tsx': "import '../settings/people.tsx'\nimport '../keys/key.tsx'",
  'web/settings/people.tsx': 'function Applicant() {\n  return <button onClick={approve}>{words.admit}</button>\n}',
  'web/keys/key.tsx': 'function Key() {\n  return <p>{words.unsaved}</p>\n}',
  'web/words/people.ts': "export const people = {\n  admit: 'Let this person join',\n  unsaved: 'Your key is not in a safe place'\n}",
  'test/kit/browser.ts': '',
  'test/journeys/devices.test.ts': "import '../kit/browser.ts'\nt.test('a device is unlinked')",
  'test/journeys/guests.test.ts': "import '../kit/browser.ts'\nimport { guests } from './guests.ts'",
  'test/journeys/guests.ts': "press('Let this person join')",
  'test/journeys/start.test.ts': "import '../kit/browser.ts'\nsee('Your key is not in a safe place')",
  'test/web/keys/key.test.ts': "import '../../kit/browser.ts'\nt.test('anything else')",
  'test/web/keys/unsaved-key.test.ts': "import '../../../web/keys/key.tsx'\nsee('Your key is not in a safe place')"
}
const files = Object.keys(tree)
const tests = files.filter(file => file.endsWith('.test.ts'))
const likely = likelyTests({ files, tests, read: file => tree[file] ?? '' })
const testsFor = (file: string, name: string) =>
  likely({ file, line: 2, function: name }).map(({ test }) => test.replace(/^test\/|\.test\.ts$/g, ''))

t.test('of tests that are as far from a change, the one that is alike in words is first', async t => {
  const journeys = testsFor('web/settings/people.tsx', 'Applicant').filter(test => test.startsWith('journeys/'))
  t.equal(journeys[0], 'journeys/guests', 'by what it imports, and the text that is shown')
})

t.test('the own test of a source is first, before those that are nearer and alike', async t => {
  t.same(testsFor('web/keys/key.tsx', 'Key').slice(0, 2), ['web/keys/key', 'web/keys/unsaved-key'])
})
