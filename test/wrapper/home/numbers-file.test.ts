import fs, { appendFileSync, readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openNumbersFile } from '../../../lib/wrapper/home/numbers-file.ts'

const folder = (t: Test) => join(t.testdir(), 'numbers')

t.test('numbers rise over all processes, and what is told once more keeps its own [W13]', async t => {
  const path = folder(t)
  const first = openNumbersFile(path)
  const one = first.next('one')
  t.equal(one.number, 1)
  t.equal(first.next('two').number, 2)
  t.strictSame(first.next('one'), one)
  await first.settled()
  first.close()

  const later = openNumbersFile(path)
  t.strictSame(later.next('one'), one, 'by the same sender')
  t.equal(later.next('three').number, 3)
  later.close()
})

t.test('a line that was torn is that of a message that did not leave [W13]', async t => {
  const path = folder(t)
  const first = openNumbersFile(path)
  const { sender } = first.next('one')
  first.close()
  appendFileSync(path, '7 tor')
  const later = openNumbersFile(path)
  t.strictSame(later.next('two'), { sender, number: 2 })
  later.close()
  t.match(readFileSync(path, 'utf8'), /\n1 one\n2 two\n$/)
})

t.test('a full disk that takes half a line costs no message its number [W13, W16]', async t => {
  const path = folder(t)
  const first = openNumbersFile(path)
  const { sender } = first.next('one')
  const makeRoom = fillDisk()
  t.teardown(makeRoom)
  t.throws(() => first.next('two'), { code: 'ENOSPC' })
  makeRoom()
  t.strictSame(first.next('two'), { sender, number: 2 })
  t.strictSame(first.next('three'), { sender, number: 3 })
  first.close()
  const later = openNumbersFile(path)
  t.strictSame(later.next('two'), { sender, number: 2 })
  t.strictSame(later.next('four'), { sender, number: 4 })
  later.close()
})

t.test('what was given up is said with the next one, with what it would have said [W13]', async t => {
  const numbers = openNumbersFile(folder(t))
  const one = numbers.next('one')
  numbers.giveUp(one)
  const two = numbers.next('two')
  const gone = [{ sender: one.sender, number: 1 }]
  t.strictSame(two.gone, gone)
  numbers.giveUp(two)
  t.strictSame(numbers.next('three').gone, [...gone, { sender: one.sender, number: 2 }])
  t.equal(numbers.next('four').gone, undefined)
  numbers.close()
})

t.test('a folder that was put back to an older state speaks as somebody new [W13]', async t => {
  const path = folder(t)
  const numbers = openNumbersFile(path)
  const { sender } = numbers.next('one')
  numbers.noteStored({ sender: 'another', number: 9 })
  t.equal(numbers.next('two').sender, sender)
  numbers.noteStored({ sender, number: 9 })
  const after = numbers.next('three')
  t.not(after.sender, sender)
  t.equal(after.number, 1)
  t.ok(numbers.isOwn(sender))
  numbers.close()
  t.equal(openNumbersFile(path).next('three').sender, after.sender)
})

t.test('the file does not grow without end [W13]', async t => {
  const path = folder(t)
  const numbers = openNumbersFile(path, 10)
  for (let each = 1; each <= 100; each++) numbers.next(`m${each}`)
  numbers.close()
  t.ok(readFileSync(path, 'utf8').split('\n').length < 25)
  const later = openNumbersFile(path, 10)
  t.equal(later.next('m101').number, 101)
  t.equal(later.next('m95').number, 95)
  later.close()
})

/** It takes the beginning of what is written; returns how to make room again. */
function fillDisk(): () => void {
  const { writeFileSync, writeSync } = fs
  fs.writeFileSync = (file, text) => {
    if (typeof file === 'number') writeSync(file, String(text).slice(0, 2))
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  }
  fs.writeSync = (file: number, text: unknown) => writeSync(file, String(text).slice(0, 2))
  syncBuiltinESMExports()
  return () => {
    Object.assign(fs, { writeFileSync, writeSync })
    syncBuiltinESMExports()
  }
}
