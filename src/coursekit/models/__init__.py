"""Models: one file each, made of the parts of Part I, with its configuration.

`from coursekit.models import Bert` works for every name below and loads that one file only.
"""

from coursekit._base.lazy import homes_of, lazily

HANDS_OUT = {  # which names each file hands out; the cache keys of the notebooks read it too
    "rnnsearch": "RNNSearch RNNSearchConfig",
    "seq2seq": "Seq2SeqTransformer Seq2SeqConfig",
    "encoder_decoder": "EncoderDecoder shift_right",
    "bert": "Bert BertConfig BertForPreTraining BertEmbeddings",
    "bert_heads": (
        "BertClassifier RobertaClassifier BertTagger BertSpan BertFeatures BertMultipleChoice "
        "sentence_vectors"
    ),
    "gpt": "GPT GPTConfig",
    "gpt_heads": (
        "Marks classification entailment similarity multiple_choice collate add_tokens Head "
        "GPTClassifier GPTSimilarity GPTMultipleChoice"
    ),
    "t5": "T5 T5Config",
    "bart": "Bart BartConfig",
    "bart_heads": "BartClassifier BartSpan BartCausalLM",
    "weights.rules": "read_safetensors write_safetensors",
    "weights.minilm": "load_minilm minilm_file",
    "weights.smollm": "smollm2",
    "sagan": "SelfAttention2d ResidualBlock2d Generator GeneratorConfig Discriminator",
    "patches": "ConvolutionalStem GridPositions RelativePositions patchify unpatchify",
    "vit": "ViT ViTConfig",
    "deit": "DeiT DeiTConfig DeiTLogits",
    "mae": "MAE MAEConfig Masking Painting random_masking masked_patch_loss",
    "swin": "Swin SwinBlock SwinConfig WindowAttention shift_mask window_partition window_reverse",
    "resnet": "ResNet ResNetConfig",
    "detr": "DETR DETRConfig Detector",
}

HOMES = homes_of(HANDS_OUT)
__all__ = list(HOMES)
__getattr__, __dir__ = lazily(__name__, HOMES)
