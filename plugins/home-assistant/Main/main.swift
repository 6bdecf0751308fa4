import HomeAssistantStage
import StageKit

PluginProgram.run(.homeAssistant)
