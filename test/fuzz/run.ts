import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { fuzz, megabytes } from './campaign.ts'

// npm run fuzz -- [--seconds 600] [--seed S]   everything but what the server expects, to a server in a process of its own
const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '600' }, seed: { type: 'string', default: String(Date.now() % 1_000_000) } }
})
const data = mkdtempSync(join(tmpdir(), 'afield-fuzz-'))
console.log(`${values.seconds} seconds with seed ${values.seed}`)
const { inputs, findings, memory } = await fuzz({
  data,
  seconds: Number(values.seconds),
  seed: Number(values.seed),
  show: line => console.log(line)
})
rmSync(data, { recursive: true, force: true })

for (const finding of findings.slice(0, 20)) console.log(`  ${finding.slice(0, 2_000)}`)
const warm = memory.slice(2, 5)
const last = memory.slice(-3)
// Caches fill; what leaks with every input grows by far more than this.
const isFlat = memory.length < 8 || Math.min(...last) < Math.max(...warm) * 1.2 + 16e6
console.log(`memory: ${memory.map(megabytes).join(' ')}${isFlat ? '' : ' is not flat'}`)
console.log(`${inputs} inputs, ${findings.length} findings`)
process.exitCode = findings.length === 0 && isFlat ? 0 : 1
