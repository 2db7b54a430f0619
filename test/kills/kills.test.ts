import t from 'tap'
import { seededRandom } from '../crash/random.ts'
import { sampleOf, sampleSeed } from '../kit/seed.ts'
import { computers } from './computers.ts'
import { judge } from './judge.ts'
import { everybody, runRounds } from './rounds.ts'

// A small sample of `node build.mjs kills`: two agents lose one of them each. The tests of each agent kill its wrapper too.
const { number: seed } = sampleSeed
const kept = { lost: [], doubled: [], isMisplaced: false, unended: 0 }

const names = { claude: 'Claude', 'claude-remote': 'Claude without its screen', codex: 'Codex', opencode: 'opencode', acp: 'an ACP agent' }

const { sample } = sampleOf(Object.keys(computers), 2, { usual: ['claude', 'codex'] })

for (const [at, [agent, { fake }]] of Object.entries(computers).entries()) {
  if (!sample.includes(agent)) continue
  const turn = (seed + at) % everybody.length
  t.test(
    `when wrapper, agent or server is killed, the phone ends up with what ${names[agent as keyof typeof names]} has: once, and in order [W1, X1]`,
    { timeout: 180_000, skip: process.platform !== 'linux' && 'it looks into /proc' },
    async t => {
      const verdict = await runRounds(t, {
        data: t.testdir(),
        rounds: 1,
        victims: everybody.slice(turn, turn + 1),
        lines: 25,
        random: seededRandom(seed),
        computer: server => fake(t, server),
        onRound: sentence => t.comment(sentence)
      })
      t.comment(`seed ${seed}: ${verdict.said} lines`)
      t.match(verdict, kept, `seed ${seed}`)
      t.ok(verdict.said >= 3, 'at least a prompt, and one more with its answer')
    }
  )
}

t.test('lost, duplicated, reordered and unfinished messages are detected', t => {
  const one = ['user: go', 'assistant: a', 'assistant: b']
  const turn = [{ t: 'turn-start' as const }, { t: 'turn-end' as const, status: 'completed' as const }]
  const of = (read: string[], events: Parameters<typeof judge>[0]['events'] = turn) => judge({ read, events }, one)
  t.match(of(one), { said: 3, ...kept })
  t.match(of(['user: go', 'assistant: b']), { lost: ['assistant: a'], isMisplaced: true })
  t.match(of(['user: go', ...one]), { doubled: ['user: go'], isMisplaced: false })
  t.match(of(['user: go', 'assistant: b', 'assistant: a']), { lost: [], isMisplaced: true })
  t.match(of(one, turn.slice(0, 1)), { unended: 1 })
  t.end()
})
