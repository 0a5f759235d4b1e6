"""Facts about model types that a config.json leaves to the library that reads it: transformers 5.20 and vLLM 0.33.

Only data. A config.json need not say what its configuration class fills in (gemma3's has no context length), so the
defaults of those classes are needed to answer as vLLM does. Types that vLLM doesn't serve, and defaults that no
checkpoint relies on (vision towers, encoders of a few hundred positions), are left out.
"""

from __future__ import annotations

__all__ = ["LENGTH_ALIASES", "LENGTH_DEFAULTS", "MULTIMODAL_ARCHITECTURES", "TEXT_CONFIG_PATHS"]

# Default of max_position_embeddings (of the text part) -> model types
_NAMES_BY_LENGTH: dict[int, str] = {
    1024: (
        "bart biogpt canary canary_decoder cohere_asr florence2 fsmt git m2m_100 marian mbart mvp nllb-moe pegasus "
        "plbart rag seamless_m4t tapas"
    ),
    1026: "esm",
    1536: "roformer",
    2048: (
        "aria aria_text bitnet blip-2 csm deepseek_ocr2 deepseek_ocr2_text deepseek_v2 deepseek_vl "
        "deepseek_vl_hybrid deepseek_vl_v2 diffllama doge dots1 esmc exaone4 exaone4_5 exaone_moe falcon gpt_neo "
        "gpt_neox gpt_neox_japanese granite granitemoe granitemoe_swa granitemoehybrid granitemoeshared hrm_text "
        "hunyuan_v1_dense hunyuan_v1_moe hunyuan_vl hunyuan_vl_text hyperclovax idefics idefics3 instructblip "
        "instructblipvideo janus kimi_vl kosmos-2 kosmos_2_text_model llama llava llava_next llava_next_video "
        "musicgen_decoder musicgen_melody_decoder nanochat nomic_bert olmo olmo2 olmo3 openvla opt perceiver "
        "perception_lm phi smolvlm ultravox unlimited-ocr unlimited_ocr video_llava vipllava xglm"
    ),
    2560: "pp_formulanet pp_formulanet_text",
    3000: "moshi",
    3072: "dia dia_decoder",
    4096: (
        "arcee big_bird bigbird_pegasus blt blt_global_transformer chameleon deepseek_v3 deepseek_v32 dots3_note "
        "flex_olmo helium jetmoe kimi_k2 kimi_k25 kimi_k3 kimi_linear kosmos-2.5 kosmos_2_5_text_model moondream3 "
        "moonshine_streaming nemotron nemotron_h nemotron_h_omni olmoe phi3 reformer seamless_m4t_v2 stablelm "
        "starcoder2 yoso zamba zamba2"
    ),
    8000: "mimi",
    8192: (
        "EvollaModel blt_patcher cohere cohere2 cohere2_moe cohere_compass cohere_compass_text colmodernvbert "
        "colpali dory eurobert evolla falcon_h1 gemma gemma2 glmasr granite_swa gte jais2 modernbert "
        "modernbert-decoder modernvbert paligemma pe_video t5_gemma_module t5gemma vaultgemma"
    ),
    8194: "jina_embeddings_v3",
    9216: "emu3 emu3_text_model",
    16384: "afmoe canine fuyu neomme pegasus_x persimmon timesfm2_5",
    24576: "blt_local_decoder",
    32768: (
        "axk1 bailing_moe_v3_vl beam colqwen2 fast_vlm gemma3n gemma3n_text glm46v glm4v glm4v_text glmga got_ocr2 "
        "idefics2 internvl isaac midashenglm minicpm3 minicpmv4_6 minicpmv4_7 musicflamingo ovis2 pp_chart2table "
        "qianfan_ocr qwen2 qwen2_5_omni qwen2_5_omni_dit qwen2_5_omni_talker qwen2_5_omni_text qwen2_5_omni_thinker "
        "qwen2_5_vl qwen2_5_vl_text qwen2_moe qwen2_vl qwen2_vl_text qwen3 qwen3_5 qwen3_5_moe qwen3_5_moe_text "
        "qwen3_5_text qwen3_moe qwen3_next qwen3_omni_moe qwen3_omni_moe_talker_code_predictor "
        "qwen3_omni_moe_talker_text qwen3_omni_moe_text qwen3_omni_moe_thinker qwen4_exp qwen4_exp_text smollm3 "
        "ultrabert ultravbert unlimited_ocr_text vibevoice vibevoice_asr video_llama_3"
    ),
    36864: "molmo2 molmo2_text",
    40960: "fun_asr_nano lighton_ocr moss_transcribe_diarize",
    65536: "apertus glm4v_moe glm4v_moe_text olmo_hybrid",
    128000: (
        "alpamayo2_super colqwen3 cosmos3_omni lfm2 lfm2_moe lfm2_vl ops_colqwen3 qwen3_asr qwen3_vl qwen3_vl_moe "
        "qwen3_vl_moe_text qwen3_vl_nemotron_embed qwen3_vl_text step3p5 step3p7"
    ),
    131072: (
        "axk2 cosmos3_edge cosmos3_edge_text cwm diffusion_gemma diffusion_gemma_text ernie4_5 ernie4_5_moe "
        "ernie4_5_vl_moe ernie4_5_vl_moe_text gemma3 gemma3_text gemma4 gemma4_text glm glm4 glm4_moe glm_image "
        "glm_image_text glm_ocr glm_ocr_text gpt_oss hy_v3 inkling_text laguna llama4 llama4_text longcat_flash "
        "mellum mimo_v2_flash minimax ministral mistral mistral3 mixtral mllama mllama_text_model muse_glimmer "
        "muse_glimmer_assistant muse_glimmer_text muse_spark_dspark musespark1x_text openai_privacy_filter "
        "paddleocr_vl paddleocr_vl_text phi4_multimodal phimoe shieldgemma2 solar_open t5gemma2 t5gemma2_decoder "
        "t5gemma2_text voxtral voxtral_realtime voxtral_realtime_text youtu zaya"
    ),
    196608: "minimax_m2",
    202752: "glm4_moe_lite glm_moe_dsa",
    262144: (
        "bamba embedding_gemma2 embedding_gemma2_text flint gemma4_unified gemma4_unified_assistant "
        "gemma4_unified_text hy_v4 jamba kolibri1 ministral3"
    ),
    524288: "minimax_m3_mtp minimax_m3_vl minimax_m3_vl_text seed_oss",
    1048576: "deepseek_v4 glm5_next glm5_next_text mistral4",
}

LENGTH_DEFAULTS: dict[str, dict[str, int]] = {
    **{
        name: {"max_position_embeddings": length}
        for length, names in _NAMES_BY_LENGTH.items()
        for name in names.split()
    },
    "bailing_hybrid": {"model_max_length": 262144},
    "chatglm": {"max_position_embeddings": 2048, "seq_length": 2048},
    "codegen": {"n_positions": 2048},
    "dbrx": {"max_seq_len": 2048},
    "gpt-sw3": {"n_positions": 1024},
    "gpt2": {"n_positions": 1024},
    "gpt_bigcode": {"n_positions": 1024},
    "gptj": {"n_positions": 2048},
    "mpt": {"max_seq_len": 2048},
    "step3_text": {"max_seq_len": 65536},
    "step3_vl": {"max_seq_len": 65536},
    "step5": {"max_position_embeddings": 4096, "max_seq_len": 4096},
    "step5_vl": {"max_position_embeddings": 4096, "max_seq_len": 4096},
}

# Keys that a configuration class takes for another key
LENGTH_ALIASES: dict[str, dict[str, str]] = {
    "bailing_hybrid": {"max_position_embeddings": "model_max_length"},
    "codegen": {"max_position_embeddings": "n_positions"},
    "dbrx": {"max_position_embeddings": "max_seq_len"},
    "gpt-sw3": {"max_position_embeddings": "n_positions"},
    "gpt2": {"max_position_embeddings": "n_positions"},
    "gpt_bigcode": {"max_position_embeddings": "n_positions"},
    "gptj": {"max_position_embeddings": "n_positions"},
    "inkling_text": {"model_max_length": "max_position_embeddings"},
    "rwkv": {"max_position_embeddings": "context_length"},
}

# Where the text part of a composite config lies, if not under one of the usual names
TEXT_CONFIG_PATHS: dict[str, tuple[str, ...]] = {
    "canary": ("decoder_config",),
    "colmodernvbert": ("vlm_config", "text_config"),
    "colpali": ("vlm_config", "text_config"),
    "colqwen2": ("vlm_config", "text_config"),
    "dia": ("decoder_config",),
    "qwen2_5_omni": ("thinker_config", "text_config"),
    "qwen3_asr": ("thinker_config", "text_config"),
    "qwen3_omni_moe": ("thinker_config", "text_config"),
}

# Architectures that vLLM serves with media inputs
_MULTIMODAL = (
    "Alpamayo2Super AriaForConditionalGeneration AudioFlamingo3ForConditionalGeneration "
    "BagelForConditionalGeneration BailingMoeV3VLForConditionalGeneration BeeForConditionalGeneration "
    "Blip2ForConditionalGeneration Cohere2VisionForConditionalGeneration CohereAsrForConditionalGeneration "
    "CohereCompassForConditionalGeneration Cosmos3EdgeForConditionalGeneration Cosmos3ForConditionalGeneration "
    "DeepseekOCR2ForCausalLM DeepseekOCRForCausalLM DeepseekV41ForCausalLM DeepseekV4ForConditionalGeneration "
    "DeepseekVLV2ForCausalLM DiffusionGemmaForBlockDiffusion Dots3NoteForCausalLM DotsOCRForCausalLM "
    "Eagle2_5_VLForConditionalGeneration Ernie4_5_VLMoeForConditionalGeneration "
    "Exaone4_5_ForConditionalGeneration FireRedASR2ForConditionalGeneration FunASRForConditionalGeneration "
    "FunAudioChatForConditionalGeneration GLM4VForCausalLM Gemma3ForConditionalGeneration "
    "Gemma3nForConditionalGeneration Gemma4ForConditionalGeneration Gemma4UnifiedForConditionalGeneration "
    "Glm4vForConditionalGeneration Glm4vMoeForConditionalGeneration Glm5NextForConditionalGeneration "
    "GlmAsrForConditionalGeneration GlmOcrForConditionalGeneration Granite4VisionForConditionalGeneration "
    "GraniteSpeechForConditionalGeneration GraniteSpeechPlusForConditionalGeneration H2OVLChatModel HfMoondream "
    "Idefics3ForConditionalGeneration InternS1ForConditionalGeneration InternS1ProForConditionalGeneration "
    "InternS2MobiusForConditionalGeneration InternS2PreviewForConditionalGeneration InternVLChatModel "
    "InternVLForConditionalGeneration IsaacForConditionalGeneration KananaVForConditionalGeneration "
    "KeyeForConditionalGeneration KeyeVL1_5ForConditionalGeneration KimiK25ForConditionalGeneration "
    "KimiK3ForConditionalGeneration KimiVLForConditionalGeneration Lfm2VlForConditionalGeneration "
    "LightOnOCRForConditionalGeneration Llama4ForConditionalGeneration Llama_Nemotron_Nano_VL "
    "LlavaForConditionalGeneration LlavaNextForConditionalGeneration LlavaNextVideoForConditionalGeneration "
    "LlavaOnevision2ForConditionalGeneration LlavaOnevisionForConditionalGeneration MiDashengLMModel "
    "MiMoV2OmniForCausalLM MiniCPMO MiniCPMOcrForConditionalGeneration MiniCPMV "
    "MiniCPMV4_6ForConditionalGeneration MiniCPMV4_7ForConditionalGeneration "
    "MiniMaxM3SparseForConditionalGeneration Mistral3ForConditionalGeneration Molmo2ForConditionalGeneration "
    "MolmoForCausalLM Moondream3ForCausalLM MoonshotKimiaForCausalLM MossAudioModel "
    "MossTranscribeDiarizeForConditionalGeneration MuseGlimmerForConditionalGeneration "
    "MuseSparkForConditionalGeneration NVLM_D NemotronH_Nano_Omni_Reasoning_V3 NemotronH_Nano_VL_V2 "
    "NemotronH_Omni_Reasoning_V3 NemotronH_Super_Omni_Reasoning_V3 NemotronParseForConditionalGeneration "
    "OpenCUAForConditionalGeneration OpenPanguVLForConditionalGeneration OpenVLAForActionPrediction Ovis Ovis2_5 "
    "Ovis2_6ForCausalLM Ovis2_6_MoeForCausalLM PaddleOCRVLForConditionalGeneration "
    "PaliGemmaForConditionalGeneration Phi3VForCausalLM Phi4ForCausalLMV Phi4MMForCausalLM "
    "PixtralForConditionalGeneration QianfanOCRForConditionalGeneration Qwen2AudioForConditionalGeneration "
    "Qwen2VLForConditionalGeneration Qwen2_5OmniForConditionalGeneration Qwen2_5OmniModel "
    "Qwen2_5_VLForConditionalGeneration Qwen3ASRForConditionalGeneration Qwen3ASRRealtimeGeneration "
    "Qwen3OmniMoeForConditionalGeneration Qwen3VLForConditionalGeneration Qwen3VLMoeForConditionalGeneration "
    "Qwen3_5ForConditionalGeneration Qwen3_5MoeForConditionalGeneration Qwen4ExpForConditionalGeneration "
    "RForConditionalGeneration RadioMBartPrefixForCausalLM SkyworkR1VChatModel SmolVLMForConditionalGeneration "
    "Step3VLForConditionalGeneration Step3p7ForConditionalGeneration Step5ForConditionalGeneration "
    "StepVLForConditionalGeneration UltravoxModel UnlimitedOCRForCausalLM VoxtralForConditionalGeneration "
    "VoxtralRealtimeGeneration WhisperForConditionalGeneration"
)
MULTIMODAL_ARCHITECTURES = frozenset(_MULTIMODAL.split())
