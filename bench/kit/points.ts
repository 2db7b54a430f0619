import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CurveName, type Point, pointsPath } from '../../docs/curves.ts'
import { commitOf, thisMachine } from '../../test/torture/record.ts'

const root = join(import.meta.dirname, '../..')

/** Appends what was measured to the record from which `node build.mjs docs` draws the curves. */
export function recordPoints(curve: CurveName): (line: string, at: number, cost: number) => void {
  const commit = commitOf(root)
  if ('problem' in commit) console.log(`Not recorded: ${commit.problem}.`)
  const date = new Date().toISOString()
  return (line, at, cost) => {
    if ('problem' in commit) return
    const point: Point = { curve, line, at, cost: Number(cost.toPrecision(4)), date, commit: commit.name, machine: thisMachine() }
    appendFileSync(join(root, pointsPath), `${JSON.stringify(point)}\n`)
  }
}
