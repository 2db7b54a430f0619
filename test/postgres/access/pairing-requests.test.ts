import t from 'tap'
import { pairingRequestContract } from '../../store/contract/pairing-requests.ts'
import { proveParts } from '../contract.ts'

proveParts(t, pairingRequestContract)
