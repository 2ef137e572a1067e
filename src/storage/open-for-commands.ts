import type { AccountStorage } from './account-storage.ts';
import type { StoragePlace } from './place.ts';
import type { PlannedDevice, PlanOptions } from './retention-plan.ts';

/**
 * Opens the accounts of an installation; a service may run on it meanwhile. `makes`: where there is
 * nothing yet, it is made. Throws UnusableStorageError when a person has to mend something.
 */
export async function openAccounts(
  place: StoragePlace,
  { makes }: { readonly makes: boolean },
): Promise<AccountStorage> {
  if (place.kind === 'postgres') {
    const { openAccounts: open } = await import('./postgres/accounts.ts');
    return open(place.url, { makes });
  }
  const { openAccounts: open } = await import('./sqlite/accounts.ts');
  return open(place.directory);
}

/**
 * What retention would take now, device after device; it reads alone. Throws UnusableStorageError
 * when there is nothing that it could look at.
 */
export async function planRetentionOf(
  place: StoragePlace,
  options: PlanOptions,
): Promise<readonly PlannedDevice[]> {
  if (place.kind === 'postgres') {
    const { planRetentionOf: plan } = await import('./postgres/examination/retention-plan.ts');
    return plan(place.url, options);
  }
  const { planRetentionOf: plan } = await import('./sqlite/examination/retention-plan.ts');
  return plan(place.directory, options);
}
