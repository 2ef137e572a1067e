import { storageContract } from '../../../test/contract/storage/storage-contract.ts';
import { createMemoryStorage } from './memory-storage.ts';

storageContract(async () => createMemoryStorage());
