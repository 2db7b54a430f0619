import t from 'tap'
import { endedText } from '../../../../web/session/presence/ended-text.ts'

t.test('how an agent ended is told: by itself, with a code, by a signal, or for want of memory', t => {
  const says = (agentEnd: Parameters<typeof endedText>[0]['agentEnd']) => endedText({ agentEnd }, '10:00')
  t.equal(says(undefined), '10:00. The session is safe and stays here to read.')
  t.equal(says({ code: 0 }), '10:00. The session is safe and stays here to read.')
  t.equal(says({ code: 1 }), '10:00. Exit 1. The session is safe.')
  t.equal(says({ signal: 'SIGTERM' }), '10:00. Ended by SIGTERM. The session is safe.')
  for (const outOfMemory of [{ code: 137 }, { signal: 'SIGKILL' }]) {
    t.equal(says(outOfMemory), '10:00. Exit 137, probably out of memory. The session is safe.')
  }
  t.end()
})
