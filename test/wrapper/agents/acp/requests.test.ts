import t from 'tap'
import { readForm } from '../../../../lib/wrapper/agents/acp/requests.ts'

type FormRequest = Parameters<typeof readForm>[0]

t.test('a text is as long as its form allows, or the person learns what is wrong', async t => {
  const cases: [property: object, text: string, sent: unknown][] = [
    [{ type: 'string', minLength: 3 }, 'abc', 'abc'],
    [{ type: 'string', minLength: 3 }, 'ab', '“Which?” needs at least 3 characters.'],
    [{ type: 'string', maxLength: 3 }, 'abc', 'abc'],
    [{ type: 'string', maxLength: 3 }, 'abcd', '“Which?” allows at most 3 characters.'],
    [{ type: 'string', minLength: null, maxLength: null }, 'abc', 'abc'],
    [{ type: 'array' }, 'abc', ['abc']],
    [{ type: 'integer', minimum: 1, maximum: 5 }, '5', 5],
    [{ type: 'integer', minimum: 1, maximum: 5 }, '6', '“Which?” needs a whole number, at least 1 and at most 5.'],
    [{ type: 'number', minimum: 1 }, '0', '“Which?” needs a number, at least 1.'],
    [{ type: 'number' }, 'many', '“Which?” needs a number.']
  ]
  for (const [property, other, sent] of cases) {
    const form = readForm({ mode: 'form', message: 'Which?', requestedSchema: { properties: { id: property } } } as unknown as FormRequest)
    const send = () => form?.content({ id: { values: [], other: ` ${other} ` } })
    if (typeof sent === 'string' && sent.startsWith('“')) t.throws(send, { message: sent }, sent)
    else t.strictSame(send(), { id: sent }, other)
  }
})
