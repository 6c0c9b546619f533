"""Models: one file each, made of the parts in layer 1, with its configuration beside it.

`from coursekit.models import Bert` works for every name below and loads that one file only.
"""

from coursekit._lazy import lazily

HOMES = {  # which module holds a name; the cache keys of the notebooks read this table too
    "RNNSearch": "rnnsearch",
    "RNNSearchConfig": "rnnsearch",
    "Seq2SeqTransformer": "seq2seq",
    "Seq2SeqConfig": "seq2seq",
    "EncoderDecoder": "encoder_decoder",
    "shift_right": "encoder_decoder",
    "Bert": "bert",
    "BertConfig": "bert",
    "BertForPreTraining": "bert",
    "BertClassifier": "bert_heads",
    "RobertaClassifier": "bert_heads",
    "BertTagger": "bert_heads",
    "BertSpan": "bert_heads",
    "BertFeatures": "bert_heads",
    "best_span": "bert_heads",
    "load_minilm": "pretrained",
    "sentence_vectors": "pretrained",
    "GPT": "gpt",
    "GPTConfig": "gpt",
    "Marks": "gpt_heads",
    "classification": "gpt_heads",
    "entailment": "gpt_heads",
    "similarity": "gpt_heads",
    "multiple_choice": "gpt_heads",
    "collate": "gpt_heads",
    "add_tokens": "gpt_heads",
    "Head": "gpt_heads",
    "GPTClassifier": "gpt_heads",
    "GPTSimilarity": "gpt_heads",
    "GPTMultipleChoice": "gpt_heads",
    "T5": "t5",
    "T5Config": "t5",
    "Bart": "bart",
    "BartConfig": "bart",
    "SelfAttention2d": "sagan",
    "ViT": "vit",
    "ViTConfig": "vit",
    "DeiT": "deit",
    "DeiTConfig": "deit",
    "MAE": "mae",
    "MAEConfig": "mae",
    "Swin": "swin",
    "SwinConfig": "swin",
    "ResNet": "resnet",
    "ResNetConfig": "resnet",
    "DETR": "detr",
    "DETRConfig": "detr",
    "PlainDETR": "detr_plain",
}

__getattr__, __dir__ = lazily(__name__, HOMES)
