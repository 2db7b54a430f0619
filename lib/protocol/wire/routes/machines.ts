import * as v from '../../../schema.ts'
import { machineId, sealedKey, sealedMetadata, sealedState } from '../ids.ts'
import { listedMachine, machineRecord } from '../records.ts'
import { kib, ok, route } from './route.ts'

const machineParams = v.object({ id: machineId })

/** Machines. */
export const machineRoutes = {
  openMachine: route({
    method: 'POST',
    path: '/v1/machines',
    auth: 'write',
    limit: 16 * kib * kib,
    body: v.object({
      id: machineId,
      metadata: sealedMetadata,
      daemonState: v.nullish(sealedState),
      dataEncryptionKey: v.nullish(sealedKey)
    }),
    reply: v.object({ machine: machineRecord })
  }),
  listMachines: route({
    method: 'GET',
    path: '/v1/machines',
    auth: 'read',
    limit: 0,
    reply: v.array(listedMachine)
  }),
  readMachine: route({
    method: 'GET',
    path: '/v1/machines/:id',
    auth: 'read',
    limit: 0,
    params: machineParams,
    reply: v.object({ machine: listedMachine })
  }),
  removeMachine: route({
    method: 'DELETE',
    path: '/v1/machines/:id',
    auth: 'write',
    limit: 0,
    params: machineParams,
    reply: ok
  })
} as const
