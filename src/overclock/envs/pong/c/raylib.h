/* Stands in for the drawing library that the reference includes, so that its rules compile alone. Nothing is drawn. */
#ifndef OVERCLOCK_NO_RAYLIB
#define OVERCLOCK_NO_RAYLIB

typedef struct { unsigned char r, g, b, a; } Color;
typedef struct { float x, y; } Vector2;
typedef struct { float x, y, width, height; } Rectangle;
typedef struct { int id; } Texture2D;

#define KEY_ESCAPE 0
#define WHITE ((Color){255, 255, 255, 255})

#define InitWindow(...) ((void)0)
#define CloseWindow() ((void)0)
#define SetTargetFPS(...) ((void)0)
#define LoadTexture(...) ((Texture2D){0})
#define IsKeyDown(...) 0
#define BeginDrawing() ((void)0)
#define EndDrawing() ((void)0)
#define ClearBackground(...) ((void)0)
#define DrawRectangle(...) ((void)0)
#define DrawTexturePro(...) ((void)0)
#define DrawText(...) ((void)0)
#define MeasureText(...) 0
#define TextFormat(...) ""

#endif
