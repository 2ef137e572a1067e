import { signal } from '@preact/signals';

/** A sentence that comes and goes, with at most one thing to do about it. */
export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly action?: { readonly label: string; readonly run: () => void };
}

const toastsMax = 3;
const plainMs = 4_000;
const actionMs = 8_000;

/** Those that show now, oldest first. */
export const toasts = signal<readonly Toast[]>([]);

let lastId = 0;

/** Says something at the bottom of the screen; read out by screen readers. Answers its id. */
export function showToast(text: string, action?: Toast['action']): number {
  lastId += 1;
  const id = lastId;
  const toast = { id, text, ...(action !== undefined && { action }) };
  toasts.value = [...toasts.value, toast].slice(-toastsMax);
  setTimeout(() => hideToast(id), action === undefined ? plainMs : actionMs);
  return id;
}

export function hideToast(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}
