import { globSync, readFileSync } from 'node:fs'
import type { Test } from 'tap'
import { partsOfStore } from './contract.ts'

/** Fails unless each part of the contract of a store is proven by one test of that folder. */
export function eachPartIsProven(t: Test, folder: string): void {
  t.test('each part of the contract is proven by one test of this folder', async t => {
    const tests = globSync(`${folder}/**/*.test.ts`).map(file => readFileSync(file, 'utf8'))
    const calls = tests.flatMap(text => [...text.matchAll(/^proveParts\(t, (.*)\)$/gm)].map(([, names = '']) => names))
    const proven = calls.flatMap(names => names.split(', '))
    const all = Object.values(partsOfStore).map(({ name }) => name)
    t.same(proven.toSorted(), all.toSorted())
  })
}
