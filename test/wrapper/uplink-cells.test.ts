import t from 'tap'
import type { LiveSocket } from '../../lib/client/socket.ts'
import { cryptoReady, engine, legacyCipher } from '../../lib/crypto/index.ts'
import { sealed } from '../../lib/protocol/wire/ids.ts'
import type { SessionRecord } from '../../lib/protocol/wire/records.ts'
import { createUplinkCells } from '../../lib/wrapper/uplink-cells.ts'

t.test(
  'how a session is found on its server is heard before anything changes: what is archived from then on was archived by somebody',
  async t => {
    await cryptoReady()
    const cipher = legacyCipher(engine.randomBytes(32))
    const metadata = { path: '/orchard', host: 'studio-mini', lifecycleState: 'running' }
    const heard: (string | undefined)[] = []
    const onStored = ({ lifecycleState }: { lifecycleState?: string | undefined }) => void heard.push(lifecycleState)
    const cells = createUplinkCells({ cipher, metadata, onChange() {}, onStored })
    t.teardown(() => cells.close())
    const row = (state: string, metadataVersion: number) => ({
      metadata: sealed.parse(cipher.seal({ ...metadata, lifecycleState: state })),
      metadataVersion,
      agentState: null,
      agentStateVersion: 0
    })
    const socket = { onState: () => () => {} } as unknown as LiveSocket
    cells.openOn({ id: 's1', ...row('running', 1) } as unknown as SessionRecord, socket)
    cells.takeRow(row('archiveRequested', 2), false)
    t.same(heard, ['running', 'archiveRequested'])
  }
)
