import t from 'tap'
import { progressLine } from '../../bin/progress-line.ts'

function shownOn(isTTY: boolean, play: (line: ReturnType<typeof progressLine>) => void): string[] {
  const written: string[] = []
  play(progressLine({ isTTY, write: (text: string) => written.push(text) > 0 } as never))
  return written.map(text => text.replace('\r\x1b[K', '|'))
}

t.test('a progress line is redrawn in place, once for each change, and cleared', t => {
  t.strictSame(
    shownOn(true, line => {
      line.show('Copying')
      line.show('Copying')
      line.show('Copying', { done: 0, total: 0 })
      line.show('Copying', { done: 0, total: 3 })
      line.show('Copying', { done: 1, total: 3 })
      line.show('Copying', { done: 4, total: 3 })
      line.show('Copying', { done: 1, total: 1 })
      line.clear()
      line.clear()
    }),
    ['|Copying …', '|Copying 0 % …', '|Copying 33 % …', '|Copying 100 % …', '|']
  )
  t.end()
})

t.test('where lines cannot be redrawn there is none', t => {
  const play = (line: ReturnType<typeof progressLine>) => line.show('Copying')
  t.strictSame(shownOn(false, play), [])
  const dumb = t.intercept(process, 'env', { value: { TERM: 'dumb' } })
  t.strictSame(shownOn(true, play), [])
  dumb.restore()
  t.end()
})
