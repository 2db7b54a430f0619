import t from 'tap'
import { misuse, refuseBareOption, refuseUnknownCommand } from '../../bin/usage-errors.ts'
import { CannotStart, exitCodes } from '../../lib/exit.ts'
import { typed } from '../../lib/wrapper/home/own-process.ts'

const options = ['port', 'new-port', 'data', 'help']
const all = `See ${typed('--help')}.`

t.test("the parser's complaints become one plain sentence that names what was typed", async t => {
  const cases: [complaint: string, typed: string, says: string][] = [
    ['Not enough non-option arguments: got 0, need at least 1', 'backup', `An argument is missing: ${typed('backup <target>')}.`],
    ['Not enough non-option arguments: got 0, need at least 1', '', `An argument is missing: ${typed('<command>')}.`],
    [
      'Not enough non-option arguments: got 0, need at least 1',
      'upgrade',
      `An argument is missing: ${typed('upgrade <source>')}. The source is the folder of a downloaded release, the program in it, or the https address of a release.`
    ],
    ['Not enough arguments following: port', 'serve --port', '--port needs a value.'],
    ['Unknown argument: here', 'login here', 'Unexpected argument here.'],
    ['Unknown arguments: here, there', 'login here there', 'Unexpected argument here.'],
    ['Unknown arguments: prot', 'serve --data x --prot=1=2', 'There is no option --prot. Did you mean --port?'],
    ['Unknown arguments: new-prot, newProt', 'serve --new-prot 1', 'There is no option --new-prot. Did you mean --new-port?'],
    ['Unknown argument: x', 'serve ---x -data -vx', 'There is no option -vx.'],
    ['Unknown argument: x', 'serve --x', 'Unexpected argument x.'],
    ['Unknown argument: colour', 'serve -colour', 'Unexpected argument colour.'],
    [
      'Invalid values:\n  Argument: signup, Given: "all", Choices: "owner", "open", "closed"',
      'serve --signup all',
      '--signup must be one of owner, open, closed, not all.'
    ],
    ['Invalid values:\n  Argument: action, Given: 7, Choices: "start", "stop"', 'daemon 7', 'action must be one of start, stop, not 7.'],
    ['Invalid values:\n  Argument: act, Given: "x", Choices: "start"', 'daemon --act x', '--act must be one of start, not x.'],
    ['Unknown argument: here', 'login here --there', 'Unexpected argument here.'],
    ['Unknown argument: --', 'login -- --', 'Unexpected argument --.'],
    ['Something else went wrong', 'serve', 'Something else went wrong.'],
    ['Something else went wrong!', 'serve', 'Something else went wrong!']
  ]
  for (const [complaint, line, says] of cases) {
    const argv = line.split(' ')
    const help = line === '' ? all : `See ${typed(`${argv[0]} --help`)}.`
    const error = misuse(complaint, argv, options)
    t.equal(error.message, `${says} ${help}`)
    t.equal(error.exitCode, exitCodes.configuration)
  }
})

t.test('a first word that is no command is refused, with the nearest one that people may use', t => {
  const refusal = (...argv: string[]) => messageOf(() => refuseUnknownCommand(argv))
  t.equal(refusal('sevre'), `There is no command sevre. Did you mean serve? ${all}`)
  t.equal(refusal('versoin'), `There is no command versoin. Did you mean version? ${all}`)
  t.equal(refusal('bogus', '--port'), `There is no command bogus. ${all}`)
  t.equal(refusal('trial-strat'), `There is no command trial-strat. ${all}`, 'those of the program itself are not offered')
  for (const known of [[], ['serve'], ['complete'], ['-h'], ['--bogus']]) t.equal(refusal(...known), undefined, known.join())
  t.end()
})

t.test('without a command the first option is refused, and a line without one is not', t => {
  const refusal = (...argv: string[]) => messageOf(() => refuseBareOption(argv, options))
  t.equal(refusal('--prot=1', '--bogus'), `There is no option --prot. Did you mean --port? ${all}`)
  t.equal(refusal('word', '-x'), `There is no option -x. ${all}`)
  for (const words of [[], ['word'], ['-'], ['--']]) t.equal(refusal(...words), undefined, words.join())
  t.end()
})

function messageOf(run: () => void): string | undefined {
  try {
    run()
    return undefined
  } catch (error) {
    if (error instanceof CannotStart) return error.message
    throw error
  }
}
