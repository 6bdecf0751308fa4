import HandlerKit
import PlacesStage
import StageKit

PluginProgram.run("places", PlacesHandler())
