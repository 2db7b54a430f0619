import t from 'tap'
import { chooseSession } from '../../../bin/commands/resume.ts'
import { typed } from '../../../lib/wrapper/home/own-process.ts'
import { createSessionFolder, listSessions } from '../../../lib/wrapper/home/session-folder.ts'
import { numbered } from '../../../lib/wrapper/terminal/session-list.ts'
import { asking } from '../../wrapper/kit/asking.ts'
import { here } from '../kit/here.ts'

/** A computer with ended sessions of these names; those of an earlier version have no program. */
function ended(home: string, names: readonly string[], program: object = { program: { kind: 'demo' } }) {
  for (const name of names) {
    const metadata = { path: '/srv/orchard', host: 'here', name }
    createSessionFolder(home, {
      tag: name,
      id: `id-of-${name}`,
      server: 'http://x',
      key: null,
      metadata,
      cursor: 0,
      turn: null,
      ...program
    }).retire()
  }
  return numbered(listSessions(home).toSorted((one, other) => (one.notes.tag < other.notes.tag ? -1 : 1)))
}

t.test('the only session that matches the words is resumed, and otherwise a person picks one', async t => {
  const all = ended(t.testdir(), ['pears', 'plums', 'quinces'])
  const picked = async (found: typeof all, words: string[], answers: (string | undefined)[]) => {
    const { terminal, shown } = asking(answers)
    const result = await chooseSession(found, { all, terminal, env: { NO_COLOR: '1' }, words }).then(
      ({ notes }) => notes.tag,
      error => ({ says: error.message, code: error.exitCode })
    )
    return { result, shown: shown() }
  }
  t.strictSame(await picked(all.slice(1, 2), ['plum'], []), { result: 'plums', shown: '' })
  const list =
    '\n  2  plums\n     An agent in /srv/orchard, ended just now\n  3  quinces\n     An agent in /srv/orchard, ended just now\n\n'
  const question = (range: string) => `Which one? ${range}, words to search for, or Enter to cancel: `
  t.strictSame(await picked(all.slice(1), [], ['3']), { result: 'quinces', shown: `${list}${question('2 to 3')}` })
  const searched = await picked(all.slice(1), [], ['PEARS', '1'])
  t.equal(searched.result, 'pears', 'of all that have ended, also those that did not match')
  t.ok(searched.shown.endsWith(question('1')))
  t.match(await picked(all.slice(0, 1), [], ['1']), { result: 'pears', shown: question('1') }, 'without words it is asked even for one')

  const see = `See them with:\n  ${typed('sessions')}`
  const cases: [found: typeof all, words: string[], answers: (string | undefined)[], says: string, code: number][] = [
    [[], [], [], `No session has ended on this computer yet. See running sessions with:\n  ${typed('sessions')}`, 78],
    [[], ['figs'], [], `No ended session matches these words. ${see}`, 78],
    [[], ['12'], [], `No session has the number 12. ${see}`, 78],
    [[], ['1234'], [], `No session has the number 1234. ${see}`, 78],
    [[], ['12345'], [], `No ended session matches these words. ${see}`, 78],
    [[], ['12', 'figs'], [], `No ended session matches these words. ${see}`, 78],
    [all, ['p'], [undefined], 'Several sessions match. Give its ID or more words.', 78],
    [all, [], [' '], 'Nothing was resumed.', 1]
  ]
  for (const [found, words, answers, says, code] of cases) t.strictSame((await picked(found, words, answers)).result, { says, code }, says)
})

t.test('a session of an earlier version is not offered, and by its number the reason is named', async t => {
  const home = t.testdir()
  ended(home, ['pears'], {})
  const resume = (...words: string[]) => here(t, 'resume', { words }, { AFIELD_HOME: home })
  const refused = (stderr: string) => ({ code: 78, stdout: '', stderr })
  t.strictSame(await resume('1'), refused('This session was made by an earlier version and cannot be resumed.\n'))
  t.match(await resume('pears'), refused('No ended session matches these words.'))
  t.match(await resume('1', 'pears'), refused('No ended session matches these words.'))
  t.match(await resume(), refused('No session has ended on this computer yet.'))
})
