import Configuration
import StageKit
import UploaderStage

PluginProgram.run(.uploader)
