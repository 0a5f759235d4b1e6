"""Shapes of Responses items, tools and tool choices, as the ``openai`` package 3.57.0 declares them.

Written by ``tools/openai_shapes.py``; not to be edited by hand. One shape after another: ``dict Name: field type; ...``
where ``field?`` may be left out. ``dict`` stays as the client wrote it, ``model`` is read into an object (see
``openai_types``). Types: ``str int float bool any null``, literal strings in quotes, ``[list]``, ``<list looked at when
used>``, ``{values of a mapping}``, names, and alternatives with ``|`` in the order in which they are tried.
"""

# ruff: noqa: E501

from __future__ import annotations

__all__ = ["ROOTS", "SDK_VERSION", "SHAPES"]

SDK_VERSION = "3.57.0"

ROOTS = """
input [EasyInputMessage|Message|OutputMessage|FileSearchToolCall|ComputerToolCall|ComputerCallOutput|FunctionWebSearch|FunctionToolCall|FunctionCallOutput|ToolSearchCall|ToolSearchOutputItemParam|AdditionalTools|ConfigurationUpdateItemParam|ReasoningItem|CompactionItemParam|ImageGenerationCall|CodeInterpreterToolCall|LocalShellCall|LocalShellCallOutput|ShellCall|ShellCallOutput|ApplyPatchCall|ApplyPatchCallOutput|McpListTools|McpApprovalRequest|McpApprovalResponse|McpCall|CustomToolCallOutput|CustomToolCall|CompactionTrigger|ItemReference|Program|ProgramOutput|(OutputMessage2|FileSearchToolCall2|FunctionToolCall2|FunctionToolCallOutputItem|FunctionWebSearch2|ComputerToolCall2|ComputerToolCallOutputItem|ReasoningItem2|Program2|ProgramOutput2|ToolSearchCall2|ToolSearchOutputItem|AdditionalTools2|CompactionItem|ImageGenerationCall2|CodeInterpreterToolCall2|LocalShellCall2|LocalShellCallOutput2|FunctionShellToolCall|FunctionShellToolCallOutput|ApplyPatchToolCall|ApplyPatchToolCallOutput|McpCall2|McpListTools2|McpApprovalRequest2|McpApprovalResponse2|CustomToolCall2|CustomToolCallOutputItem)]
tools [FunctionTool2|FileSearchTool2|ComputerTool2|ComputerUsePreviewTool2|WebSearchTool2|Mcp|CodeInterpreter|ProgrammaticToolCalling|ImageGeneration|LocalShell|FunctionShellTool2|CustomTool2|NamespaceTool|ToolSearchTool2|WebSearchPreviewTool2|ApplyPatchTool2]
tool_choice "none"|"auto"|"required"|ToolChoiceAllowed|ToolChoiceTypes|ToolChoiceFunction|ToolChoiceMcp|ToolChoiceCustom|ProgrammaticToolCalling|ToolChoiceApplyPatch|ToolChoiceShell
"""
"""The three fields of a request that are made of these shapes."""

SHAPES = """
dict PromptCacheBreakpoint: mode "explicit"; ttl? "30m"|"12h"
dict InputText: text str; type "input_text"; prompt_cache_breakpoint? PromptCacheBreakpoint
dict InputImage: detail "low"|"high"|"auto"|"original"; type "input_image"; file_id? str|null; image_url? str|null;
  prompt_cache_breakpoint? PromptCacheBreakpoint
dict InputFile: type "input_file"; detail? "auto"|"low"|"high"; file_data? str; file_id? str|null; file_url? str;
  filename? str; prompt_cache_breakpoint? PromptCacheBreakpoint
dict EasyInputMessage: content str|[InputText|InputImage|InputFile]; role "user"|"assistant"|"system"|"developer";
  phase? "commentary"|"final_answer"|null; type? "message"
dict Message: content [InputText|InputImage|InputFile]; role "user"|"system"|"developer"; status?
  "in_progress"|"completed"|"incomplete"; type? "message"
dict AnnotationFileCitation: file_id str; filename str; index int; type "file_citation"
dict AnnotationURLCitation: end_index int; start_index int; title str; type "url_citation"; url str
dict AnnotationContainerFileCitation: container_id str; end_index int; file_id str; filename str; start_index int;
  type "container_file_citation"
dict AnnotationFilePath: file_id str; index int; type "file_path"
dict LogprobTopLogprob: token str; bytes <int>; logprob float
dict Logprob: token str; bytes <int>; logprob float; top_logprobs <LogprobTopLogprob>
dict OutputText: annotations
  <AnnotationFileCitation|AnnotationURLCitation|AnnotationContainerFileCitation|AnnotationFilePath>; text str; type
  "output_text"; logprobs? <Logprob>
dict OutputRefusal: refusal str; type "refusal"
dict OutputMessage: id str; content <OutputText|OutputRefusal>; role "assistant"; status
  "in_progress"|"completed"|"incomplete"; type "message"; phase? "commentary"|"final_answer"|null
dict Result: attributes? {str|float|bool}|null; file_id? str; filename? str; score? float; text? str
dict FileSearchToolCall: id str; queries [str]; status "in_progress"|"searching"|"completed"|"incomplete"|"failed";
  type "file_search_call"; results? <Result>|null
dict PendingSafetyCheck: id str; code? str|null; message? str|null
dict ActionClick: button "left"|"right"|"wheel"|"back"|"forward"; type "click"; x int; y int; keys? [str]|null
dict ActionDoubleClick: keys [str]|null; type "double_click"; x int; y int
dict ActionDragPath: x int; y int
dict ActionDrag: path <ActionDragPath>; type "drag"; keys? [str]|null
dict ActionKeypress: keys [str]; type "keypress"
dict ActionMove: type "move"; x int; y int; keys? [str]|null
dict ActionScreenshot: type "screenshot"
dict ActionScroll: scroll_x int; scroll_y int; type "scroll"; x int; y int; keys? [str]|null
dict ActionType: text str; type "type"
dict ActionWait: type "wait"
dict ComputerToolCall: id str; call_id str; pending_safety_checks <PendingSafetyCheck>; status
  "in_progress"|"completed"|"incomplete"; type "computer_call"; action?
  ActionClick|ActionDoubleClick|ActionDrag|ActionKeypress|ActionMove|ActionScreenshot|ActionScroll|ActionType|ActionWait;
  actions?
  [ActionClick|ActionDoubleClick|ActionDrag|ActionKeypress|ActionMove|ActionScreenshot|ActionScroll|ActionType|ActionWait]
dict ComputerToolCallOutputScreenshot: type "computer_screenshot"; file_id? str; image_url? str
dict ComputerCallOutput: call_id str; output ComputerToolCallOutputScreenshot; type "computer_call_output"; id?
  str|null; acknowledged_safety_checks? <PendingSafetyCheck>|null; status? "in_progress"|"completed"|"incomplete"|null
dict ActionSearchSource: type "url"; url str
dict ActionSearch: type "search"; queries? [str]; query? str; sources? <ActionSearchSource>
dict ActionOpenPage: type "open_page"; url? str|null
dict ActionFind: pattern str; type "find_in_page"; url str
dict FunctionWebSearch: id str; action ActionSearch|ActionOpenPage|ActionFind; status
  "in_progress"|"searching"|"completed"|"incomplete"|"failed"; type "web_search_call"
dict CallerDirect: type "direct"
dict CallerProgram: caller_id str; type "program"
dict FunctionToolCall: async? bool; arguments str; call_id str; name str; type "function_call"; id? str; caller?
  CallerDirect|CallerProgram|null; namespace? str; status? "in_progress"|"completed"|"incomplete"
dict InputTextContent: text str; type "input_text"; prompt_cache_breakpoint? PromptCacheBreakpoint|null
dict InputImageContent: type "input_image"; detail? "low"|"high"|"auto"|"original"|null; file_id? str|null; image_url?
  str|null; prompt_cache_breakpoint? PromptCacheBreakpoint|null
dict InputFileContent: type "input_file"; detail? "auto"|"low"|"high"; file_data? str|null; file_id? str|null;
  file_url? str|null; filename? str|null; prompt_cache_breakpoint? PromptCacheBreakpoint|null
dict FunctionCallOutput: output str|[InputTextContent|InputImageContent|InputFileContent]; type
  "function_call_output"; id? str|null; call_id? str|null; caller? CallerDirect|CallerProgram|null; name? str|null;
  namespace? str|null; status? "in_progress"|"completed"|"incomplete"|null
dict ToolSearchCall: arguments any; type "tool_search_call"; id? str|null; call_id? str|null; execution?
  "server"|"client"; status? "in_progress"|"completed"|"incomplete"|null
dict FunctionTool: async? bool; name str; parameters {any}|null; strict bool|null; type "function"; allowed_callers?
  ["direct"|"programmatic"]|null; defer_loading? bool; description? str|null; output_schema? {any}|null
dict ComparisonFilter: key str; type "eq"|"ne"|"gt"|"gte"|"lt"|"lte"|"in"|"nin"; value str|float|bool|[str|float]
dict CompoundFilter: filters <ComparisonFilter|any>; type "and"|"or"
dict RankingOptionsHybridSearch: embedding_weight float; text_weight float
dict RankingOptions: hybrid_search? RankingOptionsHybridSearch; ranker? "auto"|"default-2024-11-15"; score_threshold?
  float
dict FileSearchTool: type "file_search"; vector_store_ids [str]; filters? ComparisonFilter|CompoundFilter|null;
  max_num_results? int; ranking_options? RankingOptions
dict ComputerTool: type "computer"
dict ComputerUsePreviewTool: display_height int; display_width int; environment
  "windows"|"mac"|"linux"|"ubuntu"|"browser"; type "computer_use_preview"
dict Filters: allowed_domains? [str]|null
dict UserLocation: city? str|null; country? str|null; region? str|null; timezone? str|null; type? "approximate"
dict WebSearchTool: type "web_search"|"web_search_2025_08_26"; external_web_access? bool; filters? Filters|null;
  search_context_size? "low"|"medium"|"high"; user_location? UserLocation|null
dict ToolMcpAllowedToolsMcpToolFilter: read_only? bool; tool_names? [str]
dict ToolMcpRequireApprovalMcpToolApprovalFilter: always? ToolMcpAllowedToolsMcpToolFilter; never?
  ToolMcpAllowedToolsMcpToolFilter
dict ToolMcp: server_label str; type "mcp"; allowed_callers? ["direct"|"programmatic"]|null; allowed_tools?
  [str]|ToolMcpAllowedToolsMcpToolFilter|null; authorization? str; connector_id?
  "connector_dropbox"|"connector_gmail"|"connector_googlecalendar"|"connector_googledrive"|"connector_microsoftteams"|"connector_outlookcalendar"|"connector_outlookemail"|"connector_sharepoint";
  defer_loading? bool; headers? {str}|null; require_approval?
  ToolMcpRequireApprovalMcpToolApprovalFilter|"always"|"never"|null; server_description? str; server_url? str;
  tunnel_id? str
dict ContainerNetworkPolicyDisabled: type "disabled"
dict ContainerNetworkPolicyDomainSecret: domain str; name str; value str
dict ContainerNetworkPolicyAllowlist: allowed_domains [str]; type "allowlist"; domain_secrets?
  <ContainerNetworkPolicyDomainSecret>
dict ToolCodeInterpreterContainerCodeInterpreterToolAuto: type "auto"; file_ids? [str]; memory_limit?
  "1g"|"4g"|"16g"|"64g"|null; network_policy? ContainerNetworkPolicyDisabled|ContainerNetworkPolicyAllowlist
dict ToolCodeInterpreter: container str|ToolCodeInterpreterContainerCodeInterpreterToolAuto; type "code_interpreter";
  allowed_callers? ["direct"|"programmatic"]|null
dict ToolProgrammaticToolCalling: type "programmatic_tool_calling"
dict ToolImageGenerationInputImageMask: file_id? str; image_url? str
dict ToolImageGenerationSvgReasoning: effort? "none"|"minimal"|"low"|"medium"|"high"|"xhigh"|"max"
dict ToolImageGenerationSvg: model? str; reasoning? ToolImageGenerationSvgReasoning|null
dict ToolImageGeneration: type "image_generation"; action? "generate"|"edit"|"auto"; background?
  "transparent"|"opaque"|"auto"; complexity? "low"|"medium"|"high"; frame_count? int; frame_duration_ms? int;
  input_fidelity? "high"|"low"|null; input_image_mask? ToolImageGenerationInputImageMask; model? str|"gpt-
  image-1"|"gpt-image-1-mini"|"gpt-image-2"|"gpt-image-2-2026-04-21"|"gpt-image-2.5-sunburst"|"gpt-
  image-2.5-sunburst-2026-09-08"|"gpt-image-2.5-flare"|"gpt-image-2.5-flare-2026-09-08"|"gpt-image-2.6-sunburst"|"gpt-
  image-2.6-flare"|"gpt-image-1.5"|"chatgpt-image-latest"; moderation? "auto"|"low"; output_compression? int;
  output_format? "png"|"webp"|"jpeg"|"gif"|"svg"; partial_images? int; quality?
  "low"|"medium"|"high"|"xhigh"|"max"|"auto"; size? str|"1024x1024"|"1024x1536"|"1536x1024"|"auto"; svg?
  ToolImageGenerationSvg
dict ToolLocalShell: type "local_shell"
dict SkillReference: skill_id str; type "skill_reference"; version? str
dict InlineSkillSource: data str; media_type "application/zip"; type "base64"
dict InlineSkill: description str; name str; source InlineSkillSource; type "inline"
dict ContainerAuto: type "container_auto"; file_ids? [str]; memory_limit? "1g"|"4g"|"16g"|"64g"|null; network_policy?
  ContainerNetworkPolicyDisabled|ContainerNetworkPolicyAllowlist; skills? <SkillReference|InlineSkill>
dict LocalSkill: description str; name str; path str
dict LocalEnvironment: type "local"; skills? <LocalSkill>
dict ContainerReference: container_id str; type "container_reference"
dict FunctionShellTool: type "shell"; allowed_callers? ["direct"|"programmatic"]|null; environment?
  ContainerAuto|LocalEnvironment|ContainerReference|null
dict Text: type "text"
dict Grammar: definition str; syntax "lark"|"regex"; type "grammar"
dict CustomTool: async? bool; name str; type "custom"; allowed_callers? ["direct"|"programmatic"]|null; defer_loading?
  bool; description? str; format? Text|Grammar
dict ToolFunction: async? bool; name str; type "function"; allowed_callers? ["direct"|"programmatic"]|null;
  defer_loading? bool; description? str|null; output_schema? {any}|null; parameters? any|null; strict? bool|null
dict ToolSearchOutputNamespaceTool: description str; name str; tools <ToolFunction|CustomTool>; type "namespace"
dict ToolSearchTool: type "tool_search"; description? str|null; execution? "server"|"client"; parameters? any|null
dict UserLocation2: type "approximate"; city? str|null; country? str|null; region? str|null; timezone? str|null
dict WebSearchPreviewTool: type "web_search_preview"|"web_search_preview_2025_03_11"; search_content_types?
  ["text"|"image"]; search_context_size? "low"|"medium"|"high"; user_location? UserLocation2|null
dict ApplyPatchTool: type "apply_patch"; allowed_callers? ["direct"|"programmatic"]|null
dict ToolSearchOutputItemParam: tools
  <FunctionTool|FileSearchTool|ComputerTool|ComputerUsePreviewTool|WebSearchTool|ToolMcp|ToolCodeInterpreter|ToolProgrammaticToolCalling|ToolImageGeneration|ToolLocalShell|FunctionShellTool|CustomTool|ToolSearchOutputNamespaceTool|ToolSearchTool|WebSearchPreviewTool|ApplyPatchTool>;
  type "tool_search_output"; id? str|null; call_id? str|null; execution? "server"|"client"; status?
  "in_progress"|"completed"|"incomplete"|null
dict AdditionalTools: role "developer"; tools
  <FunctionTool|FileSearchTool|ComputerTool|ComputerUsePreviewTool|WebSearchTool|ToolMcp|ToolCodeInterpreter|ToolProgrammaticToolCalling|ToolImageGeneration|ToolLocalShell|FunctionShellTool|CustomTool|ToolSearchOutputNamespaceTool|ToolSearchTool|WebSearchPreviewTool|ApplyPatchTool>;
  type "additional_tools"; id? str|null
dict Reasoning: effort? "none"|"minimal"|"low"|"medium"|"high"|"xhigh"|"max"|null
dict FormatTextJSONSchemaConfig: name str; schema {any}; type "json_schema"; description? str; strict? bool|null
dict Text2: format Text|FormatTextJSONSchemaConfig
dict ConfigurationUpdateItemParam: type "configuration_update"; id? str|null; reasoning? Reasoning; text? Text2
dict Summary: text str; type "summary_text"
dict Content: text str; type "reasoning_text"
dict ReasoningItem: id str; summary <Summary>; type "reasoning"; content? <Content>; encrypted_content? str|null;
  status? "in_progress"|"completed"|"incomplete"
dict CompactionItemParam: encrypted_content str; type "compaction"; id? str|null
dict ImageGenerationCallErrorModerationDetails: categories [str]; moderation_stage "input"|"output"|"unknown"
dict ImageGenerationCallError: code str|null; message str; param str|null; type str; moderation_details?
  ImageGenerationCallErrorModerationDetails
dict ImageGenerationCallSvgUsage: input_tokens int; model str; output_tokens int; reasoning_tokens int; total_tokens
  int
dict ImageGenerationCall: id str; result str|null; status "in_progress"|"completed"|"generating"|"failed"; type
  "image_generation_call"; action? "generate"|"edit"|"auto"|null; background? "transparent"|"opaque"|"auto"|null;
  error? ImageGenerationCallError; output_format? "png"|"webp"|"jpeg"|"gif"|"svg"|null; quality?
  "low"|"medium"|"high"|"xhigh"|"max"|"auto"|null; revised_prompt? str|null; size?
  str|"1024x1024"|"1024x1536"|"1536x1024"|null; svg_usage? ImageGenerationCallSvgUsage
dict OutputLogs: logs str; type "logs"
dict OutputImage: type "image"; url str
dict CodeInterpreterToolCall: id str; code str|null; container_id str; outputs <OutputLogs|OutputImage>|null; status
  "in_progress"|"completed"|"incomplete"|"interpreting"|"failed"; type "code_interpreter_call"
dict LocalShellCallAction: command [str]; env {str}; type "exec"; timeout_ms? int|null; user? str|null;
  working_directory? str|null
dict LocalShellCall: id str; action LocalShellCallAction; call_id str; status "in_progress"|"completed"|"incomplete";
  type "local_shell_call"
dict LocalShellCallOutput: id str; output str; type "local_shell_call_output"; status?
  "in_progress"|"completed"|"incomplete"|null
dict ShellCallAction: commands [str]; max_output_length? int|null; timeout_ms? int|null
dict ShellCall: action ShellCallAction; call_id str; type "shell_call"; id? str|null; caller?
  CallerDirect|CallerProgram|null; environment? LocalEnvironment|ContainerReference|null; status?
  "in_progress"|"completed"|"incomplete"|null
dict OutcomeTimeout: type "timeout"
dict OutcomeExit: exit_code int; type "exit"
dict FunctionShellCallOutputContent: outcome OutcomeTimeout|OutcomeExit; stderr str; stdout str
dict ShellCallOutput: call_id str; output <FunctionShellCallOutputContent>; type "shell_call_output"; id? str|null;
  caller? CallerDirect|CallerProgram|null; max_output_length? int|null; status?
  "in_progress"|"completed"|"incomplete"|null
dict ApplyPatchCallOperationCreateFile: diff str; path str; type "create_file"
dict ApplyPatchCallOperationDeleteFile: path str; type "delete_file"
dict ApplyPatchCallOperationUpdateFile: diff str; path str; type "update_file"
dict ApplyPatchCall: call_id str; operation
  ApplyPatchCallOperationCreateFile|ApplyPatchCallOperationDeleteFile|ApplyPatchCallOperationUpdateFile; status
  "in_progress"|"completed"; type "apply_patch_call"; id? str|null; caller? CallerDirect|CallerProgram|null
dict ApplyPatchCallOutput: call_id str; status "completed"|"failed"; type "apply_patch_call_output"; id? str|null;
  caller? CallerDirect|CallerProgram|null; output? str|null
dict McpListToolsTool: input_schema any; name str; annotations? any|null; description? str|null
dict McpListTools: id str; server_label str; tools <McpListToolsTool>; type "mcp_list_tools"; error? str|null
dict McpApprovalRequest: id str; arguments str; name str; server_label str; type "mcp_approval_request"
dict McpApprovalResponse: approval_request_id str; approve bool; type "mcp_approval_response"; id? str|null; reason?
  str|null
dict McpProtocolError: code int; message str; type "mcp_protocol_error"
dict McpToolExecutionError: content any; type "mcp_tool_execution_error"
dict HTTPError: code int; message str; type "http_error"
dict McpCall: id str; arguments str; name str; server_label str; type "mcp_call"; approval_request_id? str|null;
  error? McpProtocolError|McpToolExecutionError|HTTPError|null; output? str|null; status?
  "in_progress"|"completed"|"incomplete"|"calling"|"failed"
dict CustomToolCallOutput: call_id str; output str|<InputText|InputImage|InputFile>; type "custom_tool_call_output";
  id? str; caller? CallerDirect|CallerProgram|null
dict CustomToolCall: async? bool; call_id str; input str; name str; type "custom_tool_call"; id? str; caller?
  CallerDirect|CallerProgram|null; namespace? str
dict CompactionTrigger: type "compaction_trigger"; id? str|null
dict ItemReference: id str; type? "item_reference"|null
dict Program: id str; call_id str; code str; fingerprint str; type "program"
dict ProgramOutput: id str; call_id str; result str; status "completed"|"incomplete"; type "program_output"
model AnnotationFileCitation2: file_id str; filename str; index int; type "file_citation"
model AnnotationURLCitation2: end_index int; start_index int; title str; type "url_citation"; url str
model AnnotationContainerFileCitation2: container_id str; end_index int; file_id str; filename str; start_index int;
  type "container_file_citation"
model AnnotationFilePath2: file_id str; index int; type "file_path"
model LogprobTopLogprob2: token str; bytes [int]; logprob float
model Logprob2: token str; bytes [int]; logprob float; top_logprobs [LogprobTopLogprob2]
model OutputText2: annotations
  [AnnotationFileCitation2|AnnotationURLCitation2|AnnotationContainerFileCitation2|AnnotationFilePath2]; text str;
  type "output_text"; logprobs? [Logprob2]|null
model OutputRefusal2: refusal str; type "refusal"
model OutputMessage2: id str; content [OutputText2|OutputRefusal2]; role "assistant"; status
  "in_progress"|"completed"|"incomplete"; type "message"; phase? "commentary"|"final_answer"|null
model Result2: attributes? {str|float|bool}|null; file_id? str|null; filename? str|null; score? float|null; text?
  str|null
model FileSearchToolCall2: id str; queries [str]; status "in_progress"|"searching"|"completed"|"incomplete"|"failed";
  type "file_search_call"; results? [Result2]|null
model CallerDirect2: type "direct"
model CallerProgram2: caller_id str; type "program"
model FunctionToolCall2: arguments str; call_id str; name str; type "function_call"; id? str|null; async? bool|null;
  caller? CallerDirect2|CallerProgram2|null|null; namespace? str|null; status?
  "in_progress"|"completed"|"incomplete"|null
model PromptCacheBreakpoint2: mode "explicit"; ttl? "30m"|"12h"|null
model InputText2: text str; type "input_text"; prompt_cache_breakpoint? PromptCacheBreakpoint2|null
model InputImage2: detail "low"|"high"|"auto"|"original"; type "input_image"; file_id? str|null; image_url? str|null;
  prompt_cache_breakpoint? PromptCacheBreakpoint2|null
model InputFile2: type "input_file"; detail? "auto"|"low"|"high"|null; file_data? str|null; file_id? str|null;
  file_url? str|null; filename? str|null; prompt_cache_breakpoint? PromptCacheBreakpoint2|null
model FunctionToolCallOutputItem: id str; output str|[InputText2|InputImage2|InputFile2]; status
  "in_progress"|"completed"|"incomplete"; type "function_call_output"; call_id? str|null; caller?
  CallerDirect2|CallerProgram2|null|null; created_by? str|null; name? str|null; namespace? str|null
model ActionSearchSource2: type "url"; url str
model ActionSearch2: type "search"; queries? [str]|null; query? str|null; sources? [ActionSearchSource2]|null
model ActionOpenPage2: type "open_page"; url? str|null
model ActionFind2: pattern str; type "find_in_page"; url str
model FunctionWebSearch2: id str; action ActionSearch2|ActionOpenPage2|ActionFind2; status
  "in_progress"|"searching"|"completed"|"failed"|"incomplete"; type "web_search_call"
model PendingSafetyCheck2: id str; code? str|null; message? str|null
model ActionClick2: button "left"|"right"|"wheel"|"back"|"forward"; type "click"; x int; y int; keys? [str]|null
model ActionDoubleClick2: keys? [str]|null; type "double_click"; x int; y int
model ActionDragPath2: x int; y int
model ActionDrag2: path [ActionDragPath2]; type "drag"; keys? [str]|null
model ActionKeypress2: keys [str]; type "keypress"
model ActionMove2: type "move"; x int; y int; keys? [str]|null
model ActionScreenshot2: type "screenshot"
model ActionScroll2: scroll_x int; scroll_y int; type "scroll"; x int; y int; keys? [str]|null
model ActionType2: text str; type "type"
model ActionWait2: type "wait"
model ComputerToolCall2: id str; call_id str; pending_safety_checks [PendingSafetyCheck2]; status
  "in_progress"|"completed"|"incomplete"; type "computer_call"; action?
  ActionClick2|ActionDoubleClick2|ActionDrag2|ActionKeypress2|ActionMove2|ActionScreenshot2|ActionScroll2|ActionType2|ActionWait2|null;
  actions?
  [ActionClick2|ActionDoubleClick2|ActionDrag2|ActionKeypress2|ActionMove2|ActionScreenshot2|ActionScroll2|ActionType2|ActionWait2]|null
model ComputerToolCallOutputScreenshot2: type "computer_screenshot"; file_id? str|null; image_url? str|null
model ComputerToolCallOutputItem: id str; call_id str; output ComputerToolCallOutputScreenshot2; status
  "completed"|"incomplete"|"failed"|"in_progress"; type "computer_call_output"; acknowledged_safety_checks?
  [PendingSafetyCheck2]|null; created_by? str|null
model Summary2: text str; type "summary_text"
model Content2: text str; type "reasoning_text"
model ReasoningItem2: id str; summary [Summary2]; type "reasoning"; content? [Content2]|null; encrypted_content?
  str|null; status? "in_progress"|"completed"|"incomplete"|null
model Program2: id str; call_id str; code str; fingerprint str; type "program"
model ProgramOutput2: id str; call_id str; result str; status "completed"|"incomplete"; type "program_output"
model ToolSearchCall2: id str; arguments any; call_id? str|null; execution "server"|"client"; status
  "in_progress"|"completed"|"incomplete"; type "tool_search_call"; created_by? str|null
model FunctionTool2: name str; parameters? {any}|null; strict? bool|null; type "function"; allowed_callers?
  ["direct"|"programmatic"]|null; async? bool|null; defer_loading? bool|null; description? str|null; output_schema?
  {any}|null
model ComparisonFilter2: key str; type "eq"|"ne"|"gt"|"gte"|"lt"|"lte"|"in"|"nin"; value str|float|bool|[str|float]
model CompoundFilter2: filters [ComparisonFilter2|any]; type "and"|"or"
model RankingOptionsHybridSearch2: embedding_weight float; text_weight float
model RankingOptions2: hybrid_search? RankingOptionsHybridSearch2|null; ranker? "auto"|"default-2024-11-15"|null;
  score_threshold? float|null
model FileSearchTool2: type "file_search"; vector_store_ids [str]; filters? ComparisonFilter2|CompoundFilter2|null;
  max_num_results? int|null; ranking_options? RankingOptions2|null
model ComputerTool2: type "computer"
model ComputerUsePreviewTool2: display_height int; display_width int; environment
  "windows"|"mac"|"linux"|"ubuntu"|"browser"; type "computer_use_preview"
model Filters2: allowed_domains? [str]|null
model UserLocation3: city? str|null; country? str|null; region? str|null; timezone? str|null; type? "approximate"|null
model WebSearchTool2: type "web_search"|"web_search_2025_08_26"; external_web_access? bool|null; filters?
  Filters2|null; search_context_size? "low"|"medium"|"high"|null; user_location? UserLocation3|null
model McpAllowedToolsMcpToolFilter: read_only? bool|null; tool_names? [str]|null
model McpRequireApprovalMcpToolApprovalFilter: always? McpAllowedToolsMcpToolFilter|null; never?
  McpAllowedToolsMcpToolFilter|null
model Mcp: server_label str; type "mcp"; allowed_callers? ["direct"|"programmatic"]|null; allowed_tools?
  [str]|McpAllowedToolsMcpToolFilter|null; authorization? str|null; connector_id?
  "connector_dropbox"|"connector_gmail"|"connector_googlecalendar"|"connector_googledrive"|"connector_microsoftteams"|"connector_outlookcalendar"|"connector_outlookemail"|"connector_sharepoint"|null;
  defer_loading? bool|null; headers? {str}|null; require_approval?
  McpRequireApprovalMcpToolApprovalFilter|"always"|"never"|null; server_description? str|null; server_url? str|null;
  tunnel_id? str|null
model ContainerNetworkPolicyDisabled2: type "disabled"
model ContainerNetworkPolicyDomainSecret2: domain str; name str; value str
model ContainerNetworkPolicyAllowlist2: allowed_domains [str]; type "allowlist"; domain_secrets?
  [ContainerNetworkPolicyDomainSecret2]|null
model CodeInterpreterContainerCodeInterpreterToolAuto: type "auto"; file_ids? [str]|null; memory_limit?
  "1g"|"4g"|"16g"|"64g"|null; network_policy? ContainerNetworkPolicyDisabled2|ContainerNetworkPolicyAllowlist2|null
model CodeInterpreter: container str|CodeInterpreterContainerCodeInterpreterToolAuto; type "code_interpreter";
  allowed_callers? ["direct"|"programmatic"]|null
model ProgrammaticToolCalling: type "programmatic_tool_calling"
model ImageGenerationInputImageMask: file_id? str|null; image_url? str|null
model ImageGenerationSvgReasoning: effort? "none"|"minimal"|"low"|"medium"|"high"|"xhigh"|"max"|null
model ImageGenerationSvg: model? str|null; reasoning? ImageGenerationSvgReasoning|null
model ImageGeneration: type "image_generation"; action? "generate"|"edit"|"auto"|null; background?
  "transparent"|"opaque"|"auto"|null; complexity? "low"|"medium"|"high"|null; frame_count? int|null;
  frame_duration_ms? int|null; input_fidelity? "high"|"low"|null; input_image_mask?
  ImageGenerationInputImageMask|null; model? str|"gpt-image-1"|"gpt-image-1-mini"|"gpt-image-2"|"gpt-
  image-2-2026-04-21"|"gpt-image-2.5-sunburst"|"gpt-image-2.5-sunburst-2026-09-08"|"gpt-image-2.5-flare"|"gpt-
  image-2.5-flare-2026-09-08"|"gpt-image-2.6-sunburst"|"gpt-image-2.6-flare"|"gpt-image-1.5"|"chatgpt-image-
  latest"|null; moderation? "auto"|"low"|null; output_compression? int|null; output_format?
  "png"|"webp"|"jpeg"|"gif"|"svg"|null; partial_images? int|null; quality?
  "low"|"medium"|"high"|"xhigh"|"max"|"auto"|null; size? str|"1024x1024"|"1024x1536"|"1536x1024"|"auto"|null; svg?
  ImageGenerationSvg|null
model LocalShell: type "local_shell"
model SkillReference2: skill_id str; type "skill_reference"; version? str|null
model InlineSkillSource2: data str; media_type "application/zip"; type "base64"
model InlineSkill2: description str; name str; source InlineSkillSource2; type "inline"
model ContainerAuto2: type "container_auto"; file_ids? [str]|null; memory_limit? "1g"|"4g"|"16g"|"64g"|null;
  network_policy? ContainerNetworkPolicyDisabled2|ContainerNetworkPolicyAllowlist2|null; skills?
  [SkillReference2|InlineSkill2]|null
model LocalSkill2: description str; name str; path str
model LocalEnvironment2: type "local"; skills? [LocalSkill2]|null
model ContainerReference2: container_id str; type "container_reference"
model FunctionShellTool2: type "shell"; allowed_callers? ["direct"|"programmatic"]|null; environment?
  ContainerAuto2|LocalEnvironment2|ContainerReference2|null|null
model Text3: type "text"
model Grammar2: definition str; syntax "lark"|"regex"; type "grammar"
model CustomTool2: name str; type "custom"; allowed_callers? ["direct"|"programmatic"]|null; async? bool|null;
  defer_loading? bool|null; description? str|null; format? Text3|Grammar2|null
model ToolFunction2: name str; type "function"; allowed_callers? ["direct"|"programmatic"]|null; async? bool|null;
  defer_loading? bool|null; description? str|null; output_schema? {any}|null; parameters? any|null; strict? bool|null
model NamespaceTool: description str; name str; tools [ToolFunction2|CustomTool2]; type "namespace"
model ToolSearchTool2: type "tool_search"; description? str|null; execution? "server"|"client"|null; parameters?
  any|null
model UserLocation4: type "approximate"; city? str|null; country? str|null; region? str|null; timezone? str|null
model WebSearchPreviewTool2: type "web_search_preview"|"web_search_preview_2025_03_11"; search_content_types?
  ["text"|"image"]|null; search_context_size? "low"|"medium"|"high"|null; user_location? UserLocation4|null
model ApplyPatchTool2: type "apply_patch"; allowed_callers? ["direct"|"programmatic"]|null
model ToolSearchOutputItem: id str; call_id? str|null; execution "server"|"client"; status
  "in_progress"|"completed"|"incomplete"; tools
  [FunctionTool2|FileSearchTool2|ComputerTool2|ComputerUsePreviewTool2|WebSearchTool2|Mcp|CodeInterpreter|ProgrammaticToolCalling|ImageGeneration|LocalShell|FunctionShellTool2|CustomTool2|NamespaceTool|ToolSearchTool2|WebSearchPreviewTool2|ApplyPatchTool2];
  type "tool_search_output"; created_by? str|null
model AdditionalTools2: id str; role
  "unknown"|"user"|"assistant"|"system"|"critic"|"discriminator"|"developer"|"tool"; tools
  [FunctionTool2|FileSearchTool2|ComputerTool2|ComputerUsePreviewTool2|WebSearchTool2|Mcp|CodeInterpreter|ProgrammaticToolCalling|ImageGeneration|LocalShell|FunctionShellTool2|CustomTool2|NamespaceTool|ToolSearchTool2|WebSearchPreviewTool2|ApplyPatchTool2];
  type "additional_tools"
model CompactionItem: id str; encrypted_content str; type "compaction"; created_by? str|null
model ImageGenerationCallErrorModerationDetails2: categories [str]; moderation_stage "input"|"output"|"unknown"
model ImageGenerationCallError2: code? str|null; message str; param? str|null; type str; moderation_details?
  ImageGenerationCallErrorModerationDetails2|null
model ImageGenerationCallSvgUsage2: input_tokens int; model str; output_tokens int; reasoning_tokens int; total_tokens
  int
model ImageGenerationCall2: id str; result? str|null; status "in_progress"|"completed"|"generating"|"failed"; type
  "image_generation_call"; action? "generate"|"edit"|"auto"|null; background? "transparent"|"opaque"|"auto"|null;
  error? ImageGenerationCallError2|null; output_format? "png"|"webp"|"jpeg"|"gif"|"svg"|null; quality?
  "low"|"medium"|"high"|"xhigh"|"max"|"auto"|null; revised_prompt? str|null; size?
  str|"1024x1024"|"1024x1536"|"1536x1024"|null; svg_usage? ImageGenerationCallSvgUsage2|null
model OutputLogs2: logs str; type "logs"
model OutputImage2: type "image"; url str
model CodeInterpreterToolCall2: id str; code? str|null; container_id str; outputs? [OutputLogs2|OutputImage2]|null;
  status "in_progress"|"completed"|"incomplete"|"interpreting"|"failed"; type "code_interpreter_call"
model LocalShellCallAction2: command [str]; env {str}; type "exec"; timeout_ms? int|null; user? str|null;
  working_directory? str|null
model LocalShellCall2: id str; action LocalShellCallAction2; call_id str; status
  "in_progress"|"completed"|"incomplete"; type "local_shell_call"
model LocalShellCallOutput2: id str; output str; type "local_shell_call_output"; status?
  "in_progress"|"completed"|"incomplete"|null
model Action: commands [str]; max_output_length? int|null; timeout_ms? int|null
model LocalEnvironment3: type "local"
model FunctionShellToolCall: id str; action Action; call_id str; environment?
  LocalEnvironment3|ContainerReference2|null|null; status "in_progress"|"completed"|"incomplete"; type "shell_call";
  caller? CallerDirect2|CallerProgram2|null|null; created_by? str|null
model OutputOutcomeTimeout: type "timeout"
model OutputOutcomeExit: exit_code int; type "exit"
model Output: outcome OutputOutcomeTimeout|OutputOutcomeExit; stderr str; stdout str; created_by? str|null
model FunctionShellToolCallOutput: id str; call_id str; max_output_length? int|null; output [Output]; status
  "in_progress"|"completed"|"incomplete"; type "shell_call_output"; caller? CallerDirect2|CallerProgram2|null|null;
  created_by? str|null
model OperationCreateFile: diff str; path str; type "create_file"
model OperationDeleteFile: path str; type "delete_file"
model OperationUpdateFile: diff str; path str; type "update_file"
model ApplyPatchToolCall: id str; call_id str; operation OperationCreateFile|OperationDeleteFile|OperationUpdateFile;
  status "in_progress"|"completed"; type "apply_patch_call"; caller? CallerDirect2|CallerProgram2|null|null;
  created_by? str|null
model ApplyPatchToolCallOutput: id str; call_id str; status "completed"|"failed"; type "apply_patch_call_output";
  caller? CallerDirect2|CallerProgram2|null|null; created_by? str|null; output? str|null
model McpProtocolError2: code int; message str; type "mcp_protocol_error"
model McpToolExecutionError2: content any; type "mcp_tool_execution_error"
model HTTPError2: code int; message str; type "http_error"
model McpCall2: id str; arguments str; name str; server_label str; type "mcp_call"; approval_request_id? str|null;
  error? McpProtocolError2|McpToolExecutionError2|HTTPError2|null; output? str|null; status?
  "in_progress"|"completed"|"incomplete"|"calling"|"failed"|null
model McpListToolsTool2: input_schema any; name str; annotations? any|null; description? str|null
model McpListTools2: id str; server_label str; tools [McpListToolsTool2]; type "mcp_list_tools"; error? str|null
model McpApprovalRequest2: id str; arguments str; name str; server_label str; type "mcp_approval_request"
model McpApprovalResponse2: id str; approval_request_id str; approve bool; type "mcp_approval_response"; reason?
  str|null
model CustomToolCall2: call_id str; input str; name str; type "custom_tool_call"; id? str|null; async? bool|null;
  caller? CallerDirect2|CallerProgram2|null|null; namespace? str|null
model CustomToolCallOutputItem: call_id str; output str|[InputText2|InputImage2|InputFile2]; type
  "custom_tool_call_output"; id str; caller? CallerDirect2|CallerProgram2|null|null; status
  "in_progress"|"completed"|"incomplete"; created_by? str|null
model ToolChoiceAllowed: mode "auto"|"required"; tools [{any}]; type "allowed_tools"
model ToolChoiceTypes: type
  "file_search"|"web_search_preview"|"computer"|"computer_use_preview"|"computer_use"|"web_search_preview_2025_03_11"|"image_generation"|"code_interpreter"
model ToolChoiceFunction: name str; type "function"
model ToolChoiceMcp: server_label str; type "mcp"; name? str|null
model ToolChoiceCustom: name str; type "custom"
model ToolChoiceApplyPatch: type "apply_patch"
model ToolChoiceShell: type "shell"
"""
