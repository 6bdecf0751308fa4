import PluginKit
import UploaderStage

PluginProgram.run(.uploader)
