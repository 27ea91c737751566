# SPDX-License-Identifier: MIT OR Apache-2.0
"""Gemma 3 (text) in plain NumPy from a GGUF file: the second witness of the goldens.

Nothing of it is shared with the first witness (transformers) but the file: the weights come from
the `gguf` package's dequantiser, the equations are written out. In float64 its rounding is far
below what is compared.

    model = Gemma3("gemma-3-270m-q4_k_m.gguf")
    logits = model.logits([2, 818], last=1)   # [1, vocabulary], after the last token
"""

import gguf
import numpy as np


def _rms_norm(x, weight, epsilon):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + epsilon) * weight


def _gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


class Gemma3:
    def __init__(self, path, dtype=np.float64):
        reader = gguf.GGUFReader(path)
        self.dtype = dtype
        self.tensors = {t.name: t for t in reader.tensors}
        value = lambda name: reader.fields["gemma3." + name].contents()
        self.layers = value("block_count")
        self.heads = value("attention.head_count")
        self.kv_heads = value("attention.head_count_kv")
        self.head_size = value("attention.key_length")
        self.epsilon = value("attention.layer_norm_rms_epsilon")
        self.window = value("attention.sliding_window")
        self.global_base = value("rope.freq_base")
        self.local_base = 10000.0
        self.embedding = gguf.quants.dequantize(
            self.tensors["token_embd.weight"].data, self.tensors["token_embd.weight"].tensor_type
        )

    def weight(self, name):
        tensor = self.tensors[name + ".weight"]
        return gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(self.dtype)

    def _rotate(self, x, base):
        """Rotary positions on [heads, tokens, head_size]: element i pairs with i + half."""
        half = self.head_size // 2
        angle = np.outer(np.arange(x.shape[1]), base ** (-np.arange(half) / half)).astype(
            self.dtype
        )
        low, high = x[..., :half], x[..., half:]
        return np.concatenate(
            [
                low * np.cos(angle) - high * np.sin(angle),
                high * np.cos(angle) + low * np.sin(angle),
            ],
            axis=-1,
        )

    def _attention(self, x, layer):
        name = f"blk.{layer}.attn_"
        tokens = x.shape[0]
        is_global = (layer + 1) % 6 == 0
        base = self.global_base if is_global else self.local_base

        def heads(part, count):
            return (
                (x @ self.weight(name + part).T)
                .reshape(tokens, count, self.head_size)
                .transpose(1, 0, 2)
            )

        query = _rms_norm(heads("q", self.heads), self.weight(name + "q_norm"), self.epsilon)
        key = _rms_norm(heads("k", self.kv_heads), self.weight(name + "k_norm"), self.epsilon)
        value = heads("v", self.kv_heads)
        query, key = self._rotate(query, base), self._rotate(key, base)
        distance = np.arange(tokens)[:, None] - np.arange(tokens)[None, :]
        visible = (distance >= 0) & (is_global | (distance < self.window))
        out = np.empty((tokens, self.heads, self.head_size), self.dtype)
        for head in range(self.heads):
            group = head * self.kv_heads // self.heads
            scores = np.where(
                visible, query[head] @ key[group].T / np.sqrt(self.head_size), -np.inf
            )
            scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
            out[:, head] = scores @ value[group] / scores.sum(axis=-1, keepdims=True)
        return out.reshape(tokens, -1) @ self.weight(name + "output").T

    def _feed_forward(self, x, layer):
        name = f"blk.{layer}.ffn_"
        hidden = _gelu_tanh(x @ self.weight(name + "gate").T) * (x @ self.weight(name + "up").T)
        return hidden @ self.weight(name + "down").T

    def hidden(self, ids):
        """The final norm's output [tokens, embedding]."""
        norm = lambda x, name: _rms_norm(x, self.weight(name), self.epsilon)
        x = self.embedding[np.asarray(ids)].astype(self.dtype) * np.sqrt(self.embedding.shape[1])
        for layer in range(self.layers):
            at = f"blk.{layer}."
            x = x + norm(
                self._attention(norm(x, at + "attn_norm"), layer), at + "post_attention_norm"
            )
            x = x + norm(self._feed_forward(norm(x, at + "ffn_norm"), layer), at + "post_ffw_norm")
        return norm(x, "output_norm")

    def logits(self, ids, last=1):
        """Logits [last, vocabulary] after each of the `last` last tokens."""
        hidden = self.hidden(ids)[-last:]
        out = np.empty((hidden.shape[0], self.embedding.shape[0]), self.dtype)
        for start in range(0, out.shape[1], 32768):  # the embedding in float64 would be 1.3 GB
            out[:, start : start + 32768] = (
                hidden @ self.embedding[start : start + 32768].astype(self.dtype).T
            )
        return out
