// What a driver of one's own has to keep: the suites behind `afield/contracts`, which every driver of ours passes too.
export { type BusEnds, type BusPlace, busContract } from '../bus/contract.ts'
export type { StorePlace } from '../store/contract/kit.ts'
export { storeContract } from '../store/contract.ts'
export { type Check, checkWith } from './check.ts'
