import t from 'tap'
import { pairingContract } from '../../store/contract/pairings.ts'
import { proveParts } from '../contract.ts'

proveParts(t, pairingContract)
