import t from 'tap'
import { quietSummary, weekdayName } from '../../../web/notifications/quiet-words.ts'

type Quiet = NonNullable<Parameters<typeof quietSummary>[0]['quiet']>

const nights: Quiet = { from: '22:30', to: '07:00', days: [1, 2, 3, 4, 5, 6, 7], keep: 'decisions', collectAt: '08:00' }
const summaryOf = (quiet: Partial<Quiet> | null) => quietSummary({ quiet: quiet && { ...nights, ...quiet } } as never)

t.test('quiet hours are summed up with their times, their days and what gets through', t => {
  t.strictSame(summaryOf(null), { title: 'Off' })
  t.strictSame(summaryOf({}), { title: '22:30 to 07:00, every day', text: 'Only decisions, without sound' })
  t.strictSame(summaryOf({ to: '22:30', keep: 'nothing' }), { title: 'All day, every day', text: 'Nothing' })
  t.equal(summaryOf({ keep: 'collect' }).text, 'Collect, notify me at 08:00')
  t.end()
})

t.test('days are named together where people do, in the order of the week', t => {
  const daysIn = (days: number[]) => summaryOf({ days }).title.replace('22:30 to 07:00, ', '')
  t.equal(daysIn([5, 4, 3, 2, 1]), 'Monday to Friday')
  t.equal(daysIn([6, 7]), 'Saturday and Sunday')
  t.equal(daysIn([7, 1, 3]), 'Mon, Wed, Sun')
  t.equal(daysIn([1, 2, 3, 4]), 'Mon, Tue, Wed, Thu')
  t.same([weekdayName(1, 'long'), weekdayName(7, 'short')], ['Monday', 'Sun'])
  t.end()
})
