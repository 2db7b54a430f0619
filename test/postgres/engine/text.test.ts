import fc from 'fast-check'
import t from 'tap'
import { storedText, textToStore } from '../../../postgres/engine/text.ts'

const text = fc.string({ unit: fc.constantFrom('\u0000', '\u0001', '\u0002', 'a', 'é', '\u{10ffff}') })
const bytes = (text: string) => Buffer.from(text)

t.test('every text can be stored, and is read as it was [D4]', async () => {
  fc.assert(fc.property(text, given => !textToStore(given).includes('\u0000') && storedText(textToStore(given)) === given))
})

t.test('stored texts have the order and the prefixes of the given ones', async () => {
  fc.assert(
    fc.property(text, text, (one, other) => {
      const [first, second] = [textToStore(one), textToStore(other)]
      return bytes(first).compare(bytes(second)) === bytes(one).compare(bytes(other)) && first.startsWith(second) === one.startsWith(other)
    })
  )
})
