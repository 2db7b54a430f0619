import t from 'tap'
import { linesRead } from '../../../../web/session/transcript/line-range.ts'

const read = (text: string, args: Record<string, unknown> = {}, name = 'Read') =>
  linesRead({ name, args, content: text === '' ? [] : [{ type: 'text', text }] })

t.test('the lines read are shown when the agent numbered them, or when a range was requested', async t => {
  t.same(read('     1→import t\n     2→\n     3→t.end()'), [1, 3])
  t.same(read('<file>\n00040| a\n00041| b\n\n(End of file)\n</file>', {}, 'read'), [40, 41])
  t.same(read('<content>\n7: a\n8: b\n</content>'), [7, 8])
  t.same(read('', { file_path: '/a', offset: 12, limit: 10 }), [12, 21])
  t.same(read('', { file_path: '/a', limit: 120 }), [1, 120])
})

t.test('when the lines read are uncertain, none are shown', async t => {
  t.equal(read(''), undefined)
  t.equal(read('port: 80\n12: noon\n30: night'), undefined)
  t.equal(read('', { file_path: '/a', offset: 12 }), undefined)
  t.equal(read('', { filePath: '/a', offset: 12, limit: 10 }), undefined)
  t.equal(read('', { file_path: '/a', offset: '1', limit: 'x' }), undefined)
})
